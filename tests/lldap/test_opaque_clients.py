"""What holds for the clients of both versions, against servers of both."""

import functools
import os
import threading
import traceback
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lldap.opaque import Client, ClientV07, ClientV40, InvalidMessage, KeptKey, Version
from sandbox.lldap.opaque import PasswordRecord, PasswordServer, cheap_stretching

CANARY = "S3cr3t-CANARY-é".encode()
CLIENTS: dict[Version, Client] = {
    Version.V0_7: ClientV07(random=os.urandom, stretch=cheap_stretching),
    Version.V4_0: ClientV40(),
}
each_version = pytest.mark.parametrize("version", list(Version), ids=lambda version: version.name)


def server_of(version: Version) -> PasswordServer:
    return PasswordServer(version, seed=b"seed", random=os.urandom, stretch=cheap_stretching)


def registered(server: PasswordServer, password: bytes, version: Version) -> PasswordRecord:
    registration = CLIENTS[version].begin_registration(password, KeptKey())
    response = server.registration_start("alice", registration.request)
    return server.registration_finish(registration.finish(response))


def proved(
    server: PasswordServer, record: PasswordRecord | None, password: bytes, version: Version
) -> bool:
    proof = CLIENTS[version].begin_proof(password, KeptKey())
    return proof.check(server.login_start("alice", proof.request, record).response)


@each_version
@pytest.mark.parametrize("password", [b"x", "pässwörd ❄".encode(), b"p" * 4096], ids=len)
def test_the_registered_password_is_proved_and_no_other(version: Version, password: bytes) -> None:
    server = server_of(version)
    record = registered(server, password, version)

    assert proved(server, record, password, version)
    assert not proved(server, record, password + b"x", version)
    assert not proved(server, record, b"other", version)
    assert server.simple_login("alice", password, record) is record
    assert server.simple_login("alice", b"other", record) is None


@each_version
def test_a_user_without_a_password_proves_false(version: Version) -> None:
    assert not proved(server_of(version), None, b"password", version)


@each_version
def test_messages_have_the_same_lengths_in_both_versions(version: Version) -> None:
    server, client = server_of(version), CLIENTS[version]
    registration = client.begin_registration(b"password", KeptKey())
    response = server.registration_start("alice", registration.request)
    proof = client.begin_proof(b"password", KeptKey())

    assert (len(registration.request), len(response)) == (32, 64)
    assert len(registration.finish(response)) == 192
    assert len(proof.request) == 96
    assert len(server.login_start("alice", proof.request, None).response) == 320


BAD_ELEMENTS = {
    "identity": bytes(32),
    "not canonical": b"\xff" * 32,
    "negative": (1).to_bytes(32, "little"),
    "too large": b"\x00" * 31 + b"\x80",
}


@each_version
@pytest.mark.parametrize("bad", BAD_ELEMENTS.values(), ids=BAD_ELEMENTS.keys())
def test_an_answer_with_a_bad_element_is_an_invalid_message(version: Version, bad: bytes) -> None:
    server, client = server_of(version), CLIENTS[version]
    registration = client.begin_registration(b"password", KeptKey())
    proof = client.begin_proof(b"password", KeptKey())
    answer = server.registration_start("alice", registration.request)
    credential = server.login_start("alice", proof.request, None).response

    for broken in (bad + answer[32:], answer[:32] + bad):
        with pytest.raises(InvalidMessage, match="element"):
            registration.finish(broken)
    for broken in (bad + credential[32:], credential[:224] + bad + credential[256:]):
        with pytest.raises(InvalidMessage, match="element"):
            proof.check(broken)


@each_version
def test_an_answer_of_another_length_is_an_invalid_message(version: Version) -> None:
    server, client = server_of(version), CLIENTS[version]
    registration = client.begin_registration(b"password", KeptKey())
    proof = client.begin_proof(b"password", KeptKey())
    answer = server.registration_start("alice", registration.request)
    credential = server.login_start("alice", proof.request, None).response

    for broken in (b"", answer[:-1], answer + b"\0", credential):
        with pytest.raises(InvalidMessage, match=r"bytes instead of 64"):
            registration.finish(broken)
    for broken in (b"", credential[:-1], credential + b"\0", answer):
        with pytest.raises(InvalidMessage, match=r"bytes instead of 320"):
            proof.check(broken)


def mutations(length: int) -> st.SearchStrategy[Callable[[bytes], bytes]]:
    """Arbitrary messages, and right ones with a piece replaced or cut off."""

    def replace(start: int, piece: bytes) -> Callable[[bytes], bytes]:
        return lambda message: (message[:start] + piece + message[start + len(piece) :])[:length]

    def cut(end: int) -> Callable[[bytes], bytes]:
        return lambda message: message[:end]

    def fixed(whole: bytes) -> Callable[[bytes], bytes]:
        return lambda _: whole

    return st.one_of(
        st.builds(replace, st.integers(0, length - 1), st.binary(min_size=1, max_size=length)),
        st.builds(cut, st.integers(0, length)),
        st.builds(fixed, st.binary(max_size=length + 1)),
        st.builds(fixed, st.binary(min_size=length, max_size=length)),
    )


@pytest.mark.slow
@each_version
@settings(max_examples=300)
@given(mutate=mutations(64))
def test_no_registration_response_makes_anything_but_an_upload_or_an_invalid_message(
    version: Version, mutate: Callable[[bytes], bytes]
) -> None:
    registration = CLIENTS[version].begin_registration(CANARY, KeptKey())
    response = server_of(version).registration_start("alice", registration.request)
    try:
        upload = registration.finish(mutate(response))
    except InvalidMessage as error:
        assert_canary_is_not_in("".join(traceback.format_exception(error)))
    else:
        assert len(upload) == 192


@functools.cache
def server_with_canary(version: Version) -> tuple[PasswordServer, PasswordRecord]:
    server = server_of(version)
    return server, registered(server, CANARY, version)


@pytest.mark.slow
@each_version
@settings(max_examples=300)
@given(mutate=mutations(320))
def test_no_altered_credential_response_proves_the_password(
    version: Version, mutate: Callable[[bytes], bytes]
) -> None:
    server, record = server_with_canary(version)
    proof = CLIENTS[version].begin_proof(CANARY, KeptKey())
    response = server.login_start("alice", proof.request, record).response
    altered = mutate(response)
    # a proof in 0.7 ends before the key exchange, which has the last 128 bytes
    decisive = 192 if version is Version.V0_7 else 320
    try:
        assert proof.check(altered) == (altered[:decisive] == response[:decisive])
    except InvalidMessage as error:
        assert_canary_is_not_in("".join(traceback.format_exception(error)))


def assert_canary_is_not_in(text: str) -> None:
    assert "S3cr3t" not in text
    assert CANARY.hex() not in text


@each_version
def test_B14_a_password_is_in_no_repr(version: Version) -> None:
    client, kept = CLIENTS[version], KeptKey()
    registration = client.begin_registration(CANARY, kept)
    server = server_of(version)
    record = server.registration_finish(
        registration.finish(server.registration_start("alice", registration.request))
    )
    proof = client.begin_proof(CANARY, kept)

    for thing in (client, kept, registration, proof, record):
        assert_canary_is_not_in(repr(thing) + str(thing))


@each_version
def test_threads_share_a_client(version: Version) -> None:
    server = server_of(version)
    record = registered(server, b"password", version)
    outcomes: list[bool] = []

    def prove() -> None:
        outcomes.extend(proved(server, record, b"password", version) for _ in range(5))

    threads = [threading.Thread(target=prove) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert outcomes == [True] * 20


def test_an_answer_that_is_the_request_is_no_answer_in_version_40_either() -> None:
    server, client = server_of(Version.V4_0), CLIENTS[Version.V4_0]
    registration = client.begin_registration(b"password", KeptKey())
    answer = server.registration_start("alice", registration.request)

    with pytest.raises(InvalidMessage, match="the one that was sent"):
        registration.finish(registration.request + answer[32:])


def test_what_the_library_refuses_is_an_invalid_message(monkeypatch: pytest.MonkeyPatch) -> None:
    registration = CLIENTS[Version.V4_0].begin_registration(b"password", KeptKey())
    answer = server_of(Version.V4_0).registration_start("alice", registration.request)
    monkeypatch.setattr(registration, "_state", b"not a state")

    with pytest.raises(InvalidMessage, match="opaque-ke refuses"):
        registration.finish(answer)
