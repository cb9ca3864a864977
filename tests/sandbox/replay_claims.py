"""What of an answer is compared with a recorded one."""

from collections.abc import Callable

from sandbox.apiserver.objects import Value
from tests.sandbox.apiserver_replay import GROUP

KINDS = ("lldapusers", "lldapgroups", "lldapmemberships", "lldapattributeschemas")


def without_managed_fields(body: Value) -> Value:
    """Reviews are answered and not stored; nobody asks who owns their fields."""
    return {**body, "metadata": {}}


def named(key: str, name: Callable[[Value], str], *ignored: str) -> Callable[[Value], Value]:
    """Compares lists by name, those of the recording alone: of the real server's groups and
    kinds it holds only ours."""

    def claimed(body: Value) -> Value:
        shown = {
            name(each): {k: v for k, v in each.items() if k not in ignored} for each in body[key]
        }
        return {**body, key: {each: shown[each] for each in sorted(shown) if each in OURS}}

    return claimed


OURS = {
    "",
    GROUP,
    "coordination.k8s.io",
    *KINDS,
    *(f"{kind}/status" for kind in KINDS),
}


def without_hash(body: Value) -> Value:
    paths = {
        path: each["serverRelativeURL"].partition("?")[0] for path, each in body["paths"].items()
    }
    return {
        path: url for path, url in paths.items() if path in {"api/v1", f"apis/{GROUP}/v1alpha1"}
    }
