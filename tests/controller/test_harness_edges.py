"""Objects at the edges: odd ones, old CRDs, many at once, the end of a term."""

import os
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from controller.api import GROUP, INSTANCE_LABEL, LLDAP_USER
from controller.election.leadership import NotLeader
from controller.harness.resource import Object
from informers import RestClient
from lldap import Credentials, Session
from lldap.opaque import Client, ClientV07, ClientV40
from lldap.passwords import OwnCredentials, Passwords
from sandbox.lldap.exchange import Response
from tests.support.bed import ADMIN_PASSWORD, CALL_SECONDS, Bed
from tests.support.directory import Directory
from tests.support.edits import merge, status_writes

VERIFIED = ("True", "Verified")
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


# --- odd objects ---------------------------------------------------------------------------------


def test_K06_long_names_and_odd_annotation_keys_are_no_trouble(
    bed: Bed, directory: Directory
) -> None:
    name = "a" * 63 + "." + ".".join(["b" * 62] * 3)
    assert len(name) == 252
    odd_key = {"example.test/a~b": "x", f"{GROUP}/reconcile-at": "a/b~c"}
    bed.user("alice", object=name, annotations=odd_key)
    bed.settle()
    assert bed.ready("LldapUser", name) == VERIFIED
    obj = bed.get("LldapUser", name)
    assert obj["metadata"]["labels"] == {INSTANCE_LABEL: "default"}
    assert obj["metadata"]["annotations"] == odd_key
    bed.delete("LldapUser", name)
    bed.settle()
    assert not directory.has_user("alice")
    assert not bed.exists("LldapUser", name)


def old_crd(bed: Bed, *lacking: str) -> Callable[[], None]:
    """The CRD of the users as an older release had it; what it gives back makes it new again."""
    path = f"{CRDS}/{LLDAP_USER.crd_name}"
    new = bed.admin.get(path)
    old = orjson.loads(orjson.dumps(new))
    schema = old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for field in lacking:
        del schema["properties"]["status"]["properties"][field]

    def put(spec: Object) -> None:
        now = bed.admin.get(path)
        bed.admin.put(path, {**now, "spec": spec})
        bed.clock.advance(5)
        bed.api.step()

    put(old["spec"])
    return lambda: put(new["spec"])


def test_K07_an_old_crd_under_a_new_operator_is_told_of_and_makes_no_hot_loop(
    bed: Bed, directory: Directory
) -> None:
    bed.user("first")
    bed.settle()
    upgrade = old_crd(bed, "managed", "origin")
    bed.settle()
    bed.clear_logs()
    bed.user("alice")
    bed.run(500, step=5)  # no resync yet
    assert directory.has_user("alice")
    assert bed.mutations() == ["createUser"]
    assert status_writes(bed) == 1
    told = [event for event in bed.events.seen if event[:2] == ("LldapUser alice", "Warning")]
    assert [reason for _, _, reason, _ in told] == ["UnsupportedServer"]
    assert "apply its CRDs" in told[0][3]
    upgrade()
    bed.run(900, step=10)
    assert bed.ready("LldapUser", "alice") == VERIFIED


def test_K07_an_operator_that_knows_fewer_fields_leaves_the_others_alone(bed: Bed) -> None:
    """A newer CRD has a field that this release does not know: it is never written or dropped."""
    path = f"{CRDS}/{LLDAP_USER.crd_name}"
    crd = bed.admin.get(path)
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    schema["spec"]["properties"]["nickname"] = {"type": "string"}
    bed.admin.put(path, crd)
    bed.clock.advance(5)
    bed.api.step()
    bed.user("alice", nickname="al")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == VERIFIED
    merge(bed, {"spec": {"displayName": "Al"}})
    bed.settle()
    assert bed.get("LldapUser", "alice")["spec"]["nickname"] == "al"
    bed.delete("LldapUser", "alice")
    bed.settle()
    assert not bed.exists("LldapUser", "alice")


# --- many objects --------------------------------------------------------------------------------


def calls_of_a_restart(count: int) -> list[str]:
    bed = Bed()
    for number in range(count):
        bed.user(f"user{number}")
    bed.settle(20 * count)
    bed.clear_logs()
    bed.start()
    bed.settle(20 * count)
    assert bed.api_writes() == []
    assert bed.mutations() == []
    return bed.operations()


def test_G07_a_restart_asks_lldap_as_often_for_many_objects_as_for_few() -> None:
    assert calls_of_a_restart(2) == calls_of_a_restart(60)


def test_G07_a_persons_change_is_served_before_a_resync(bed: Bed) -> None:
    names = [f"user{number:02}" for number in range(50)]
    for name in names:
        bed.user(name)
    bed.settle(400)
    bed.operator.compare_all()
    merge(bed, {"spec": {"displayName": "now"}}, "user49")
    for informer in bed.operator.all_informers:
        for reflector in informer.reflectors:
            reflector.step()
        for registration in informer.registrations:
            registration.step()
    bed.clear_logs()
    bed.operator.pool.try_step()
    assert bed.mutations() == ["updateUser"]


# --- the end of a term ---------------------------------------------------------------------------


class Fence:
    """Writes are allowed until it falls."""

    fallen = False

    def __call__(self, _seconds: float) -> None:
        if self.fallen:
            raise NotLeader


def start_fenced(bed: Bed, fence: Fence) -> None:
    own = OwnCredentials(lambda: Credentials("admin", ADMIN_PASSWORD))
    session = Session(
        bed.lldap_transport, own, clock=bed.clock, call_seconds=CALL_SECONDS, before_write=fence
    )
    clients: list[Client] = [ClientV07(random=os.urandom, stretch=bed.stretch), ClientV40()]
    bed.start(
        rest=RestClient(bed.api_transport, call_seconds=CALL_SECONDS, fence=fence),
        session=session,
        passwords=Passwords(session, own, clients),
    )


@pytest.mark.parametrize("last_call", ["createUser", "/auth/opaque/register/finish"])
def test_G08_nothing_is_written_once_the_term_is_over_and_the_next_one_goes_on(
    bed: Bed, directory: Directory, last_call: str
) -> None:
    bed.secret("s", b"correct horse battery")
    fence = Fence()
    transport = bed.api_transport
    start_fenced(bed, fence)
    bed.settle()

    def fall(call: Any, forward: Callable[[Any], Response]) -> Response:
        if call.operation == last_call:
            fence.fallen = True
        return forward(call)

    bed.lldap.hooks.append(fall)
    bed.user("alice", passwordPolicy="Manage", passwordSecretRef={"name": "s", "key": "password"})
    bed.lldap.log.clear()
    transport.calls.clear()
    bed.run(30)
    assert bed.mutations()[-1] == last_call
    assert [c for c in transport.calls if c.call.path.endswith("/alice/status")] == []
    assert "InternalError" not in bed.events.reasons()
    bed.lldap.hooks.clear()
    bed.start()
    bed.run(10)
    assert bed.ready("LldapUser", "alice") == VERIFIED
    assert bed.login("alice", "correct horse battery") == 200
    assert directory.has_user("alice")
