"""Which values of a Secret are passwords, and where a Secret is looked for."""

from typing import Any

import pytest

from controller.api import InvalidSpec, UserSpec
from controller.kube import Kube
from controller.watching.ownwrites import OwnWrites
from informers import RestClient, StatusError
from sandbox.apiserver.transport import Call, InProcessTransport
from tests.support.accounts import (
    FIRST,
    can_log_in,
    delete_secret,
    has_account,
    reference,
    registrations,
    secret_reads,
    secret_with,
    settled_user,
    with_password,
)
from tests.support.bed import CALL_SECONDS, Bed


@pytest.mark.parametrize(
    "value",
    [b"x", b"p" * 4096, "pässwörd ❄".encode(), b"spaces  \t inside", b"\x00\x01 text too"],
    ids=["one byte", "4,096 bytes", "not ASCII", "blanks", "control characters"],
)
def test_the_exact_bytes_of_the_key_are_the_password(bed: Bed, value: bytes) -> None:
    bed.secret("pw", value)
    with_password(bed)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed, value)
    assert not can_log_in(bed, value + b"x")


REJECTED = {
    "empty": (b"", "empty"),
    "4,097 bytes": (b"p" * 4097, "4097 bytes"),
    "not UTF-8": (b"\xff\xfe12345678", "UTF-8"),
}


@pytest.mark.parametrize("case", REJECTED)
@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
def test_B05_a_value_that_nobody_can_type_is_not_registered(
    bed: Bed, case: str, there: bool
) -> None:
    if there:
        settled_user(bed)
    value, words = REJECTED[case]
    bed.secret("pw", value)
    with_password(bed, displayName="Al")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "PasswordRejected")
    message = bed.message("LldapUser", "alice")
    assert "Secret team-a/pw, key password" in message
    assert words in message
    assert registrations(bed) == 0
    assert has_account(bed)
    assert can_log_in(bed, FIRST) is there
    bed.secret("pw", b"the right one")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed, b"the right one")


def test_B05_a_missing_secret_is_waited_for(bed: Bed) -> None:
    with_password(bed)
    bed.run(120, step=10)
    assert bed.ready("LldapUser", "alice") == ("False", "SecretNotFound")
    assert "Secret team-a/pw" in bed.message("LldapUser", "alice")
    assert registrations(bed) == 0
    bed.secret("pw", FIRST)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed)


@pytest.mark.parametrize("data", [{"other": b"x"}, {}], ids=["another key", "no key"])
def test_B05_a_missing_key_is_waited_for(bed: Bed, data: dict[str, bytes]) -> None:
    secret_with(bed, data)
    with_password(bed)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "SecretKeyNotFound")
    assert "no key password" in bed.message("LldapUser", "alice")
    assert registrations(bed) == 0
    secret_with(bed, {**data, "password": FIRST})
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_J01_a_renamed_key_is_missing_under_its_old_name(bed: Bed) -> None:
    settled_user(bed)
    secret_with(bed, {"renamed": FIRST})
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "SecretKeyNotFound")
    assert can_log_in(bed)
    with_password(bed, passwordSecretRef=reference(key="renamed"))
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert registrations(bed) == 0


def test_a_secret_that_goes_takes_no_password_with_it(bed: Bed) -> None:
    settled_user(bed)
    delete_secret(bed)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "SecretNotFound")
    assert can_log_in(bed)


def test_B05_without_a_reference_and_with_ignore_there_is_nothing_to_do(bed: Bed) -> None:
    bed.user("alice")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert not [op for op in bed.operations() if "opaque" in op]
    assert secret_reads(bed) == []


@pytest.mark.parametrize(
    ("value", "odd"),
    [
        (b"long enough\n", ["newline"]),
        (b"short", ["fewer than 8"]),
        (b"short\n", ["newline", "fewer than 8"]),
        ("ääääääää".encode(), []),
        ("äääääää".encode(), ["fewer than 8"]),
        (b"12345678", []),
    ],
)
def test_an_odd_password_is_set_with_a_warning_event(
    bed: Bed, value: bytes, odd: list[str]
) -> None:
    bed.secret("pw", value)
    with_password(bed)
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed, value)
    warnings = [note for _, kind, _, note in bed.events.seen if kind == "Warning"]
    assert len(warnings) == len(odd)
    for note, words in zip(warnings, odd, strict=True):
        assert note.startswith("Secret team-a/pw, key password: ")
        assert words in note


# --- where it is looked for ----------------------------------------------------------------


def test_D05_a_secret_is_read_in_the_objects_own_namespace_alone(bed: Bed) -> None:
    bed.secret("pw", FIRST)
    bed.secret("pw", b"the value of team-b", "team-b")
    spec: Any = {"passwordPolicy": "Manage", "passwordSecretRef": reference()}
    bed.user("alice", "team-b", **spec)
    bed.settle()
    assert can_log_in(bed, b"the value of team-b")
    assert secret_reads(bed) == ["team-b/secrets/pw"]


@pytest.mark.parametrize("name", ["../x", "other/secret", "a b", "Upper", ""])
def test_D05_a_name_that_is_none_is_refused_before_any_request(name: str) -> None:
    """By the CRD, and by the operator for objects that are older than its rule."""
    spec = {
        "username": "alice",
        "email": "a@example.org",
        "passwordSecretRef": {"name": name, "key": "password"},
    }
    with pytest.raises(InvalidSpec):
        UserSpec.parse({"spec": spec})


def test_D05_a_namespace_in_the_reference_is_not_read() -> None:
    spec = {
        "username": "alice",
        "email": "a@example.org",
        "passwordSecretRef": {"name": "pw", "key": "password", "namespace": "kube-system"},
    }
    found = UserSpec.parse({"spec": spec}).password_secret
    assert found is not None
    assert (found.name, found.key) == ("pw", "password")


def test_D05_no_name_leaves_its_place_in_the_path(bed: Bed) -> None:
    transport = InProcessTransport(bed.api)
    kube = Kube(RestClient(transport, call_seconds=CALL_SECONDS), OwnWrites())
    with pytest.raises(Exception, match="not found"):
        kube.secret("team-a", "../../team-b/secrets/pw")


@pytest.mark.parametrize("code", [403, 404, 500])
def test_a_secret_that_cannot_be_read_now_is_read_later(bed: Bed, code: int) -> None:
    """A 404 that is no Status comes from something in between: it says nothing of the Secret."""
    settled_user(bed)
    bed.secret("pw", b"the next password")
    undisturbed = bed.api_transport.before

    def disturbed(call: Call) -> None:
        if call.path.endswith("/secrets/pw"):
            raise StatusError(code, "Forbidden" if code == 403 else "")

    bed.api_transport.before = disturbed
    bed.run(30)
    assert bed.ready("LldapUser", "alice")[0] == "False"
    assert bed.ready("LldapUser", "alice")[1] != "SecretNotFound"
    assert can_log_in(bed)
    bed.api_transport.before = undisturbed
    bed.run(60)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert can_log_in(bed, b"the next password")
