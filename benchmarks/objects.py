"""The objects of a run, and how they get into the API server."""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from benchmarks.bare import Connection
from controller.api import (
    API_VERSION,
    INSTANCE_LABEL,
    KINDS,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
)

Object = dict[str, Any]

C = TypeVar("C", bound=Connection)
T = TypeVar("T")

PLURALS = {kind.kind: kind.plural for kind in KINDS} | {"Secret": "secrets"}
FINALIZERS = {kind.kind: kind.finalizer for kind in KINDS}
CREATORS = 8
CLUSTER = "benchmark"


def collection(namespace: str, kind: str) -> str:
    """The path of all objects of a kind."""
    base = "/api/v1" if kind == "Secret" else f"/apis/{API_VERSION}"
    return f"{base}/namespaces/{namespace}/{PLURALS[kind]}"


def mark_of(obj: Object) -> str:
    """The operator's own mark, for a cluster called `benchmark`."""
    metadata = obj["metadata"]
    where = f"{metadata['namespace']}/{metadata['name']}"
    return f"created {CLUSTER} default {where} {metadata['uid']}"


def _object(kind: str, name: str, spec: Object) -> Object:
    metadata = {"name": name, "labels": {INSTANCE_LABEL: "default"}}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def users(names: Iterable[str], *, passwords: bool = False) -> list[Object]:
    """One user a name, of its own Secret if `passwords`."""
    return [_user(name, passwords=passwords) for name in names]


def _user(name: str, *, passwords: bool) -> Object:
    spec: Object = {
        "username": name,
        "email": f"{name}@example.org",
        "displayName": f"The user {name}",
    }
    if passwords:
        spec["passwordSecretRef"] = {"name": f"secret-{name}", "key": "password"}
    else:
        spec["passwordPolicy"] = "Ignore"
    return _object(LLDAP_USER.kind, name, spec)


def secrets(names: Iterable[str], password: str = "first") -> list[Object]:
    """The Secrets that `users` refer to."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": f"secret-{name}"},
            "stringData": {"password": f"{password}-of-{name}"},
        }
        for name in names
    ]


def groups(names: Iterable[str]) -> list[Object]:
    """One group a name."""
    return [_object(LLDAP_GROUP.kind, name, {"displayName": name}) for name in names]


def memberships(names: Sequence[str], group_names: Sequence[str]) -> list[Object]:
    """Each user in one of the groups, in turn."""
    return [
        _object(
            LLDAP_MEMBERSHIP.kind,
            f"{name}-in-{group}",
            {"userName": name, "groupName": group},
        )
        for name, group in zip(names, _repeated(group_names, len(names)), strict=True)
    ]


def _repeated(names: Sequence[str], count: int) -> list[str]:
    return [names[number % len(names)] for number in range(count)]


def in_parallel(
    connect: Callable[[], C],
    items: Iterable[T],
    do: Callable[[C, T], object],
    threads: int = CREATORS,
) -> None:
    """`do(connection, item)` for each item, each thread with a connection of its own."""
    todo = list(items)
    failures: list[Exception] = []

    def work(part: list[T]) -> None:
        connection = connect()
        try:
            for item in part:
                do(connection, item)
        except Exception as error:  # noqa: BLE001 - raised again below
            failures.append(error)
        finally:
            connection.close()

    parts = [todo[number::threads] for number in range(threads)]
    workers = [threading.Thread(target=work, args=(part,)) for part in parts if part]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]


def create(connection: Connection, namespace: str, obj: Object) -> Object:
    """Create one object."""
    made: Object = connection.call("POST", collection(namespace, obj["kind"]), obj)
    return made
