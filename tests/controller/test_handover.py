"""Handing over: the holder goes and another object of the same target takes its place."""

import itertools
from collections.abc import Callable

import pytest

from controller.api import DRY_RUN_ANNOTATION, INSTANCE_LABEL, LLDAP_USER, PAUSED_ANNOTATION
from controller.configuration.values import Adoption
from informers import ConnectionFailed
from informers.transport import RawResponse
from sandbox.apiserver.transport import Call as ApiCall
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward
from tests.support.bed import Bed
from tests.support.directory import Directory, mark

SECRET = {"name": "pw", "key": "password"}


def uid(bed: Bed, kind: str, name: str, namespace: str = "team-a") -> str:
    return str(bed.get(kind, name, namespace)["metadata"]["uid"])


def spec(username: str, policy: str = "") -> dict[str, object]:
    return {
        "username": username,
        "email": f"{username}@example.org",
        "passwordPolicy": "Manage",
        "passwordSecretRef": SECRET,
        **({"deletionPolicy": policy} if policy else {}),
    }


def holder_and_heir(bed: Bed, policy: str = "", heir_namespace: str = "team-a") -> None:
    """alice is held by `first`, which is older; `second` waits for her. devs likewise."""
    for namespace in {"team-a", heir_namespace}:
        bed.secret("pw", b"first-password", namespace)
    bed.apply("LldapUser", "first", spec("alice", policy))
    bed.apply("LldapGroup", "first", {"displayName": "devs", **_policy(policy)})
    bed.membership("alice", "devs", deletionPolicy="Retain")
    bed.settle()
    bed.clock.advance(5)
    bed.apply("LldapUser", "second", spec("alice"), heir_namespace)
    bed.apply("LldapGroup", "second", {"displayName": "devs"}, heir_namespace)
    bed.settle()
    for kind in ("LldapUser", "LldapGroup"):
        assert bed.ready(kind, "first") == ("True", "Verified")
        assert bed.ready(kind, "second", heir_namespace) == ("False", "Conflict")


def _policy(policy: str) -> dict[str, str]:
    return {"deletionPolicy": policy} if policy else {}


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize("policy", ["", "Delete", "Retain"])
def test_D01_in_the_same_namespace_the_account_stays_whatever_the_holder_says(
    policy: str, by_hand: bool
) -> None:
    bed = Bed(adoption=Adoption.ALWAYS)
    directory = Directory(bed)
    if by_hand:
        directory.make_user("alice")
        directory.make_group("devs")
    holder_and_heir(bed, policy)
    uuids = directory.uuid("alice"), directory.group_uuid("devs")
    bed.clear_logs()
    bed.delete("LldapUser", "first")
    bed.delete("LldapGroup", "first")
    bed.settle()
    assert not bed.exists("LldapUser", "first")
    assert not bed.exists("LldapGroup", "first")
    assert (directory.uuid("alice"), directory.group_uuid("devs")) == uuids
    assert directory.members("devs") == {"alice"}
    assert bed.login("alice", "first-password") == 200
    origin = "adopted" if by_hand else "created"
    second = uid(bed, "LldapUser", "second")
    assert directory.mark("alice") == mark(second, "second", origin=origin)
    group = uid(bed, "LldapGroup", "second")
    assert directory.group_mark("devs") == mark(group, "second", origin=origin)
    for kind in ("LldapUser", "LldapGroup"):
        assert bed.ready(kind, "second") == ("True", "Verified")
        assert bed.get(kind, "second")["status"]["origin"].lower() == origin
    assert sorted(bed.mutations()) == ["updateGroup", "updateUser"]
    assert bed.events.reasons().count("HandedOver") == 4  # on both objects of both kinds


def test_the_heir_deletes_what_the_holder_created() -> None:
    bed = Bed()
    directory = Directory(bed)
    holder_and_heir(bed)
    for name in ("first", "second"):
        bed.delete("LldapUser", name)
        bed.settle()
    assert not directory.has_user("alice")


def test_from_another_namespace_the_heir_creates_anew_after_delete() -> None:
    bed = Bed()
    directory = Directory(bed)
    holder_and_heir(bed, "Delete", "team-b")
    uuids = directory.uuid("alice"), directory.group_uuid("devs")
    bed.delete("LldapUser", "first")
    bed.delete("LldapGroup", "first")
    bed.settle()
    for kind in ("LldapUser", "LldapGroup"):
        assert bed.ready(kind, "second", "team-b") == ("True", "Verified")
        assert bed.get(kind, "second", "team-b")["status"]["origin"] == "Created"
    assert directory.uuid("alice") != uuids[0]
    assert directory.group_uuid("devs") != uuids[1]
    assert directory.members("devs") == set()


@pytest.mark.parametrize("adoption", Adoption)
def test_from_another_namespace_the_heir_adopts_by_the_rules_after_retain(
    adoption: Adoption,
) -> None:
    bed = Bed(adoption=adoption)
    directory = Directory(bed)
    holder_and_heir(bed, "Retain", "team-b")
    uuids = directory.uuid("alice"), directory.group_uuid("devs")
    bed.delete("LldapUser", "first")
    bed.delete("LldapGroup", "first")
    bed.settle()
    user = adoption is not Adoption.NEVER
    group = adoption is Adoption.ALWAYS  # alice is a member of devs
    assert bed.ready("LldapUser", "second", "team-b")[0] == str(user)
    assert bed.ready("LldapGroup", "second", "team-b")[0] == str(group)
    assert (directory.uuid("alice"), directory.group_uuid("devs")) == uuids
    assert directory.members("devs") == {"alice"}


@pytest.mark.parametrize("annotation", [DRY_RUN_ANNOTATION, PAUSED_ANNOTATION])
def test_who_is_in_dry_run_or_paused_is_no_heir(annotation: str) -> None:
    bed = Bed()
    directory = Directory(bed)
    holder_and_heir(bed)
    bed.annotate("LldapUser", "second", **{annotation: "true"})
    bed.settle()
    bed.delete("LldapUser", "first")
    bed.settle()
    assert not bed.exists("LldapUser", "first")
    assert not directory.has_user("alice")


def test_who_is_being_deleted_is_no_heir() -> None:
    bed = Bed()
    directory = Directory(bed)
    holder_and_heir(bed)
    for name in ("first", "second"):
        bed.delete("LldapUser", name)
    bed.settle()
    assert not bed.exists("LldapUser", "first")
    assert not bed.exists("LldapUser", "second")
    assert not directory.has_user("alice")


def test_the_oldest_of_several_inherits() -> None:
    bed = Bed()
    directory = Directory(bed)
    holder_and_heir(bed)
    bed.clock.advance(5)
    bed.apply("LldapUser", "another", spec("alice"))
    bed.settle()
    bed.delete("LldapUser", "first")
    bed.settle()
    assert directory.mark("alice") == mark(uid(bed, "LldapUser", "second"), "second")
    assert bed.ready("LldapUser", "another") == ("False", "Conflict")


def test_an_heir_that_only_the_informer_still_knows_gets_nothing() -> None:
    bed = Bed()
    directory = Directory(bed)
    holder_and_heir(bed)
    bed.admin.patch(
        bed.path("LldapUser", "team-a", "second"),
        {"metadata": {"finalizers": None}},
        content_type="application/merge-patch+json",
    )
    bed.delete("LldapUser", "second")
    bed.delete("LldapUser", "first")
    users = bed.operator.informers["LldapUser"]
    stale = bed.operator.instance.cache.get(LLDAP_USER, "team-a", "first")
    assert stale is not None
    held = {**bed.get("LldapUser", "first")}
    for reflector in users.reflectors:  # the first event that comes through is the holder's
        reflector._target.upsert(held)  # an order of events that no server promises
    for registration in users.registrations:
        registration.step()
    bed.operator.pool.try_step()
    bed.settle()
    assert not bed.exists("LldapUser", "first")
    assert not directory.has_user("alice")


CHANGES: dict[str, Callable[[Bed], object]] = {
    "paused": lambda bed: bed.annotate("LldapGroup", "second", **{PAUSED_ANNOTATION: "true"}),
    "dry-run": lambda bed: bed.annotate("LldapGroup", "second", **{DRY_RUN_ANNOTATION: "true"}),
    "deleted": lambda bed: bed.delete("LldapGroup", "second"),
    "renamed": lambda bed: bed.apply("LldapGroup", "second", {"displayName": "ops"}),
    "another instance's": lambda bed: bed.apply(
        "LldapGroup", "second", {"displayName": "devs"}, labels={INSTANCE_LABEL: "other"}
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_heir_that_changed_a_moment_ago_gets_nothing(change: str) -> None:
    bed = Bed()
    directory = Directory(bed)
    holder_and_heir(bed, "Delete")
    uuid = directory.group_uuid("devs")

    def changed_before(call: ApiCall) -> RawResponse | None:
        if call.method == "GET" and call.path.endswith("/second"):
            bed.api_transport.before = lambda _call: None
            CHANGES[change](bed)
        return None

    bed.api_transport.before = changed_before
    bed.delete("LldapGroup", "first")
    bed.settle()
    assert not bed.exists("LldapGroup", "first")
    assert not directory.has_group("devs") or directory.group_uuid("devs") != uuid


def test_a_membership_that_went_a_moment_ago_keeps_nobody_in_a_group() -> None:
    bed = Bed()
    bed.user("alice")
    bed.group("devs")
    bed.membership("alice", "devs")
    bed.settle()
    bed.clock.advance(5)
    bed.membership("alice", "devs", name="second")
    bed.settle()
    assert bed.ready("LldapMembership", "second") == ("False", "Conflict")

    def gone_before(call: ApiCall) -> RawResponse | None:
        if call.method == "GET" and call.path.endswith("/second"):
            bed.api_transport.before = lambda _call: None
            bed.admin.patch(
                call.path,
                {"metadata": {"finalizers": None}},
                content_type="application/merge-patch+json",
            )
            bed.delete("LldapMembership", "second")
        return None

    bed.api_transport.before = gone_before
    bed.delete("LldapMembership", "alice-devs")
    bed.settle()
    assert not bed.exists("LldapMembership", "alice-devs")
    assert not bed.exists("LldapMembership", "second")
    assert Directory(bed).members("devs") == set()


def test_an_unclear_answer_about_the_heir_is_waited_for() -> None:
    bed = Bed()
    directory = Directory(bed)
    holder_and_heir(bed)
    before = directory.user("alice")

    def lost(call: ApiCall) -> RawResponse | None:
        if call.method == "GET" and call.path.endswith("/second"):
            raise ConnectionFailed("no answer", sent=True)
        return None

    bed.api_transport.before = lost
    bed.delete("LldapUser", "first")
    bed.settle()
    assert bed.exists("LldapUser", "first")
    assert directory.user("alice") == before
    bed.api_transport.before = lambda _call: None
    bed.run(60)
    assert not bed.exists("LldapUser", "first")
    assert bed.ready("LldapUser", "second") == ("True", "Verified")


def test_a_holder_that_goes_to_another_instance_hands_over_too() -> None:
    bed = Bed()
    directory = Directory(bed)
    holder_and_heir(bed)
    uuid = directory.uuid("alice")
    bed.apply(
        "LldapUser",
        "first",
        spec("alice"),
        labels={INSTANCE_LABEL: "other"},
    )
    bed.settle()
    assert bed.ready("LldapUser", "second") == ("True", "Verified")
    assert directory.uuid("alice") == uuid


# --- a crash at each call ------------------------------------------------------------------------


class Crash(BaseException):
    """The process ends here."""


class Bomb:
    """Ends the process before or after one of its calls, counted over both servers."""

    def __init__(self, bed: Bed, at: int, *, after: bool) -> None:
        self._bed, self._at, self._after = bed, at, after
        self._calls = itertools.count()
        self.exploded = False
        bed.api_transport.before = self._before_api
        bed.api_transport.after = self._after_api
        bed.lldap.hooks[:] = [self._lldap]

    def _now(self, method: str) -> bool:
        return method != "GET" and not self.exploded and next(self._calls) == self._at

    def _explode(self) -> None:
        self.exploded = True
        raise Crash

    def _before_api(self, call: ApiCall) -> RawResponse | None:
        self._armed = self._now(call.method)
        if self._armed and not self._after:
            self._explode()
        return None

    def _after_api(self, call: ApiCall, status: int) -> None:
        del call, status
        if self._armed and self._after:
            self._armed = False
            self._explode()

    def _lldap(self, call: Call, forward: Forward) -> Response:
        armed = call.caller == "operator" and self._now(call.method)
        if armed and not self._after:
            self._explode()
        response = forward(call)
        if armed:
            self._explode()
        return response


@pytest.mark.slow
@pytest.mark.parametrize(
    ("namespace", "policy"), [("team-a", "Delete"), ("team-b", "Delete"), ("team-b", "Retain")]
)
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("kind", ["LldapUser", "LldapGroup"])
def test_a_hand_over_survives_a_crash_at_each_of_its_calls(
    kind: str, policy: str, after: bool, namespace: str
) -> None:
    whole = end_of_hand_over(kind, policy, namespace, lambda bed: None)
    for at in itertools.count():
        bombs: list[Bomb] = []

        def arm(bed: Bed, at: int = at, bombs: list[Bomb] = bombs) -> None:
            bombs.append(Bomb(bed, at, after=after))

        end = end_of_hand_over(kind, policy, namespace, arm)
        assert end == whole, f"crash {'after' if after else 'before'} call {at}"
        if not bombs[0].exploded:
            break
    assert at > 4


def end_of_hand_over(
    kind: str, policy: str, namespace: str, arm: Callable[[Bed], object]
) -> dict[str, object]:
    """What stands at the end, without what differs by time."""
    bed = Bed()
    directory = Directory(bed)
    holder_and_heir(bed, policy, namespace)
    uuids = directory.uuid("alice"), directory.group_uuid("devs")
    arm(bed)
    bed.delete(kind, "first")
    try:
        bed.settle()
    except Crash:
        bed.lldap.hooks.clear()
        bed.start()
        bed.run(90, step=5)
    bed.run(5)
    heir = uid(bed, kind, "second", namespace)
    text = directory.mark("alice") if kind == "LldapUser" else directory.group_mark("devs")
    return {
        "first": bed.exists(kind, "first"),
        "second": bed.ready(kind, "second", namespace),
        "uuids kept": (directory.uuid("alice"), directory.group_uuid("devs")) == uuids,
        "mark": (text or "").replace(heir, "heir"),
        "login": bed.login("alice", "first-password"),
        "members": directory.members("devs"),
    }
