"""Two versions of OPAQUE: whatever the server speaks, Ready means that the person can log in."""

import pytest

from lldap.opaque import Version
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward
from tests.support.accounts import (
    FIRST,
    REGISTER_FINISH,
    REGISTER_START,
    SECOND,
    account,
    can_log_in,
    forget_the_past,
    register_in,
    registrations,
    resync,
    settled_user,
    status,
    with_password,
)
from tests.support.bed import Bed

V0_7, V4_0 = Version.V0_7, Version.V4_0


def speaking(version: Version) -> Bed:
    bed = Bed()
    if version is V4_0:
        bed.lldap.upgrade()
        bed.start()
    return bed


@pytest.mark.parametrize("policy", ["Manage", "InitialOnly"])
@pytest.mark.parametrize("version", list(Version), ids=lambda version: version.name)
def test_a_password_works_on_a_server_of_either_version(version: Version, policy: str) -> None:
    bed = speaking(version)
    settled_user(bed, policy=policy)
    assert can_log_in(bed)


@pytest.mark.parametrize("made_in", list(Version), ids=lambda version: f"made in {version.name}")
@pytest.mark.parametrize("spoken", list(Version), ids=lambda version: f"spoken {version.name}")
def test_each_row_of_the_table_ends_with_a_password_that_works(
    made_in: Version, spoken: Version
) -> None:
    """Somebody registered the Secret's password, in the right version or not."""
    bed = speaking(spoken)
    with bed.lldap.database() as store:
        store.create_user("alice", "alice@example.org")
    register_in(bed, made_in, "alice", FIRST)
    bed.secret("pw", FIRST)
    with_password(bed)
    bed.run(3)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed)
    assert registrations(bed) == (0 if made_in is spoken else 1)


def test_an_upgrade_alone_changes_nothing(bed: Bed) -> None:
    settled_user(bed)
    bed.lldap.upgrade()
    resync(bed)
    assert registrations(bed) == 0
    assert can_log_in(bed)  # the server makes a new record of it
    resync(bed)
    assert registrations(bed) == 0
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_a_rotation_right_after_an_upgrade_works(bed: Bed) -> None:
    settled_user(bed)
    bed.lldap.upgrade()
    bed.secret("pw", SECOND)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed, SECOND)


def test_a_full_pass_after_an_upgrade_proves_the_old_record(bed: Bed) -> None:
    settled_user(bed)
    bed.lldap.upgrade()
    with_password(bed, annotations={"lldap-operator.lukidoescode.com/reconcile-at": "1"})
    bed.settle()
    assert registrations(bed) == 0
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["Manage", "InitialOnly"])
@pytest.mark.parametrize("number", range(1, 16))
def test_an_upgrade_at_any_call_never_ends_ready_with_a_password_that_fails(
    bed: Bed, number: int, policy: str
) -> None:
    """Two users, so that what was found for the first meets the second."""
    bed.secret("pw", FIRST)
    bed.settle()
    calls = 0

    def hook(call: Call, forward: Forward) -> Response:
        nonlocal calls
        calls += call.caller == "operator"
        if calls == number:
            bed.lldap.upgrade()
        return forward(call)

    bed.lldap.hooks.append(hook)
    for name in ("alice", "bob"):
        with_password(bed, name, policy)
    for _ in range(20):
        bed.step()
        for name in ("alice", "bob"):
            if bed.ready("LldapUser", name)[0] == "True":
                # A login would heal an old record of the server: the proof does not.
                assert logs_in_untouched(bed, name)
    bed.lldap.hooks.clear()
    bed.run(5)
    for name in ("alice", "bob"):
        assert bed.ready("LldapUser", name) == ("True", "Verified")
        assert can_log_in(bed, FIRST, name)


def logs_in_untouched(bed: Bed, name: str) -> bool:
    state = bed.lldap.snapshot()
    try:
        return can_log_in(bed, FIRST, name)
    finally:
        bed.lldap.restore(state)


@pytest.mark.parametrize("version", list(Version), ids=lambda version: version.name)
def test_B07_a_server_that_speaks_neither_version_stops_passwords_only(version: Version) -> None:
    bed = speaking(version)
    settled_user(bed, "settled")
    bed.lldap.hooks.append(neither)
    bed.start()
    with_password(bed, displayName="Al")
    bed.user("bob", displayName="Bob")
    bed.group("staff")
    bed.membership("bob", "staff")
    bed.run(3)
    assert bed.ready("LldapUser", "alice") == ("False", "UnsupportedServer")
    assert account(bed)["display_name"] == "Al"
    assert registrations(bed) == 0
    assert "UnsupportedServer" in bed.events.reasons()
    assert bed.ready("LldapUser", "bob") == ("True", "Verified")
    assert bed.ready("LldapMembership", "bob-staff") == ("True", "Verified")
    assert bed.ready("LldapUser", "settled") == ("True", "Verified")
    with_password(bed, displayName="Alice")
    bed.settle()
    assert account(bed)["display_name"] == "Alice"
    bed.lldap.hooks.clear()
    bed.run(700, step=50)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed)


def neither(call: Call, forward: Forward) -> Response:
    """Every proof fails: another version's answer looks the same."""
    response = forward(call)
    if "/login/start" not in call.path:
        return response
    return Response.of_json(200, {"server_data": "AA==", "credential_response": "AAAA"})


GARBLED = {
    "truncated": {"server_data": "AA==", "registration_response": "AAAA"},
    "no group element": {"server_data": "AA==", "registration_response": "/" * 85 + "8="},
    "unknown fields": {"data": "AA==", "response": "AAAA"},
    "not text": {"server_data": 1, "registration_response": []},
    "nothing": {},
}


@pytest.mark.parametrize("case", GARBLED)
def test_B07_an_answer_that_is_none_of_the_protocol_sends_no_finish(bed: Bed, case: str) -> None:
    settled_user(bed)
    forget_the_past(bed)
    before = status(bed)["passwordHash"]

    def hook(call: Call, forward: Forward) -> Response:
        answered = forward(call)
        return Response.of_json(200, GARBLED[case]) if call.path == REGISTER_START else answered

    bed.lldap.hooks.append(hook)
    bed.secret("pw", SECOND)
    with_password(bed, displayName="Al")
    bed.run(3)
    assert bed.ready("LldapUser", "alice") == ("False", "UnsupportedServer")
    assert status(bed)["passwordHash"] == before
    assert REGISTER_FINISH not in bed.operations()
    assert account(bed)["display_name"] == "Al"
    assert can_log_in(bed, FIRST)
    bed.lldap.hooks.clear()
    bed.run(700, step=50)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed, SECOND)
