"""One session for all threads: logins, permissions, writes, deadlines."""

import pytest

from lldap import (
    Answer,
    BadAnswer,
    Client,
    Conflict,
    ConnectionFailed,
    Credentials,
    Forbidden,
    LldapError,
    LoginRefused,
    NotFound,
    OutcomeUnknown,
    Rejected,
    Unavailable,
)
from lldap.classify import Asked
from lldap.graphql import Document, Request
from tests.lldap.scripted_transport import (
    GRAPHQL,
    ScriptedTransport,
    data,
    failed,
    json_answer,
    text_answer,
)
from tests.lldap.session_bed import (
    EXPIRED,
    NOT_ALLOWED,
    OK,
    READ,
    START,
    WRITE,
    advancing,
    session_of,
)
from tests.support.clock import FakeClock

CANARY = "S3cr3t-CANARY-é"


class Recorded:
    """Metrics that remember."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, float]] = []
        self.logins: list[str] = []

    def observe_call(self, operation: str, outcome: str, seconds: float) -> None:
        self.calls.append((operation, outcome, seconds))

    def observe_login(self, outcome: str) -> None:
        self.logins.append(outcome)


def test_the_first_call_logs_in_and_the_next_ones_do_not() -> None:
    transport = ScriptedTransport(OK)
    session = session_of(transport)
    assert session.generation == 0
    assert session.login_time is None
    for _ in range(3):
        assert session.graphql(READ, write=False) == {"users": []}
    assert [sent.json for sent in transport.logins] == [
        {"username": "Admin", "password": "password"}
    ]
    assert [(sent.path, sent.token, sent.max_bytes) for sent in transport.calls] == [
        (GRAPHQL, "token-1", 77)
    ] * 3
    assert session.generation == 1
    assert session.login_time == FakeClock().monotonic()


def test_B08_a_token_that_is_refused_is_renewed_and_the_call_repeated_once() -> None:
    transport = ScriptedTransport(OK, EXPIRED, OK)
    session = session_of(transport)
    session.graphql(READ, write=False)
    assert session.graphql(READ, write=False) == {"users": []}
    assert [sent.token for sent in transport.calls] == ["token-1", "token-1", "token-2"]


def test_B08_a_call_that_is_refused_with_the_new_token_too_is_forbidden() -> None:
    transport = ScriptedTransport(EXPIRED)
    session = session_of(transport)
    with pytest.raises(Forbidden):
        session.graphql(READ, write=False)
    assert len(transport.logins) == 2
    assert len(transport.calls) == 2


@pytest.mark.parametrize(
    "login",
    [
        json_answer({"token": "no-expiry", "refreshToken": None}),
        json_answer({"token": "eyJhbGciOiJIUzUxMiJ9.eyJleHAiOiAiMTIzIn0.x"}),
    ],
)
def test_B08_the_token_is_not_looked_into(login: Answer) -> None:
    transport = ScriptedTransport(OK, logins=(login,))
    assert session_of(transport).graphql(READ, write=False) == {"users": []}


@pytest.mark.parametrize(
    "login",
    [
        json_answer({}),
        json_answer({"token": None}),
        json_answer({"token": ""}),
        json_answer({"token": "with space"}),
        json_answer({"token": "with\r\nX-Header: 1"}),
        json_answer({"token": "é"}),
        json_answer([]),
        text_answer("<html>Welcome</html>", 200, "text/html"),
        text_answer("", 200),
    ],
)
def test_an_answer_without_a_token_is_no_login(login: Answer) -> None:
    transport = ScriptedTransport(OK, logins=(login,))
    with pytest.raises(BadAnswer):
        session_of(transport).graphql(READ, write=False)
    assert transport.calls == []


def test_the_password_is_read_anew_for_each_login() -> None:
    passwords = iter(["old", "new"])
    transport = ScriptedTransport(EXPIRED, OK)
    session = session_of(transport, credentials=lambda: Credentials("admin", next(passwords)))
    session.graphql(READ, write=False)
    assert [sent.json["password"] for sent in transport.logins] == ["old", "new"]


def test_a_wrong_password_is_a_refused_login() -> None:
    transport = ScriptedTransport(OK, logins=(text_answer("Authentication error", 401),))
    with pytest.raises(LoginRefused):
        session_of(transport).graphql(READ, write=False)
    assert transport.calls == []


def test_a_renewed_login_is_used_from_then_on() -> None:
    transport = ScriptedTransport(OK)
    session = session_of(transport)
    assert session.login().generation == 1
    assert session.login().generation == 1
    assert session.renew().generation == 2
    session.graphql(READ, write=False)
    assert transport.calls[-1].token == "token-2"


def test_logout_is_never_called() -> None:
    transport = ScriptedTransport(OK, EXPIRED, OK)
    session = session_of(transport)
    session.graphql(READ, write=False)
    session.graphql(READ, write=False)
    assert {sent.path for sent in transport.sent} == {"/auth/simple/login", GRAPHQL}


# Permissions


def test_B09_a_401_of_registration_costs_one_login_and_is_not_renewed_again() -> None:
    transport = ScriptedTransport(NOT_ALLOWED)
    session = session_of(transport)
    for _ in range(20):
        with pytest.raises(Forbidden):
            session.post(START, {"username": "root"}, authenticated=True, write=True)
    assert len(transport.logins) == 2
    assert len(transport.calls) == 21


def test_B09_after_that_an_expired_token_is_still_renewed() -> None:
    transport = ScriptedTransport(NOT_ALLOWED, NOT_ALLOWED, EXPIRED, OK)
    session = session_of(transport)
    with pytest.raises(Forbidden):
        session.post(START, {"username": "root"}, authenticated=True, write=True)
    session.graphql(READ, write=False)
    assert len(transport.logins) == 3


def test_B09_a_registration_with_an_expired_token_works_after_the_login() -> None:
    transport = ScriptedTransport(NOT_ALLOWED, json_answer({"server_data": "x"}))
    session = session_of(transport)
    answer = session.post(START, {"username": "bob"}, authenticated=True, write=True)
    assert answer == {"server_data": "x"}


def test_B11_unauthorized_with_200_is_forbidden_and_costs_no_login() -> None:
    transport = ScriptedTransport(failed("Unauthorized user deletion"))
    session = session_of(transport)
    for _ in range(5):
        with pytest.raises(Forbidden):
            session.graphql(WRITE, write=True)
    assert len(transport.logins) == 1
    assert len(transport.calls) == 5


# Writes


def test_a_write_is_sent_once_whatever_happens() -> None:
    for fault in (
        ConnectionFailed("refused"),
        OutcomeUnknown("reset"),
        text_answer("bad gateway", 502),
        text_answer("", 200),
        failed("odd"),
    ):
        transport = ScriptedTransport(fault)
        with pytest.raises(LldapError):
            session_of(transport).graphql(WRITE, write=True)
        assert len(transport.calls) == 1


def test_only_a_write_asks_before_it_is_sent() -> None:
    asked: list[float] = []
    clock = FakeClock()
    session = session_of(ScriptedTransport(OK), clock, before_write=asked.append)
    session.graphql(READ, write=False)
    session.post("/auth/opaque/login/start", {}, authenticated=False, write=False)
    assert asked == []
    session.graphql(WRITE, write=True)
    session.post(START, {}, authenticated=True, write=True)
    assert asked == [8.0, 8.0]


def test_what_is_raised_before_a_write_stops_it() -> None:
    class LostLeaseError(Exception):
        pass

    def before_write(_: float) -> None:
        raise LostLeaseError

    transport = ScriptedTransport(OK)
    session = session_of(transport, before_write=before_write)
    with pytest.raises(LostLeaseError):
        session.graphql(WRITE, write=True)
    assert transport.calls == []


def test_a_write_that_is_repeated_after_a_401_asks_again() -> None:
    asked: list[float] = []
    transport = ScriptedTransport(EXPIRED, data({"deleteUser": {"ok": True}}))
    session_of(transport, before_write=asked.append).graphql(WRITE, write=True)
    assert len(asked) == 2


# Deadlines


def test_C09_login_and_repetition_share_the_deadline_of_the_call() -> None:
    clock = FakeClock()
    token = json_answer({"token": "token"})
    transport = ScriptedTransport(
        advancing(clock, 2.0, EXPIRED), OK, logins=(advancing(clock, 1.0, token),)
    )
    session_of(transport, clock).graphql(READ, write=False)
    assert [sent.timeout for sent in transport.sent] == [8.0, 7.0, 5.0, 4.0]


def test_C09_a_call_is_not_sent_when_the_login_took_all_the_time() -> None:
    clock = FakeClock()
    token = json_answer({"token": "token"})
    transport = ScriptedTransport(OK, logins=(advancing(clock, 8.0, token),))
    session = session_of(transport, clock)
    with pytest.raises(Unavailable, match="no time was left"):
        session.graphql(READ, write=False)
    assert transport.calls == []
    assert session.graphql(READ, write=False) == {"users": []}
    assert len(transport.logins) == 1


def test_a_document_may_ask_for_more_time() -> None:
    transport = ScriptedTransport(OK)
    document = Document("directory", "{ x }", min_seconds=300.0)
    session_of(transport).graphql(Request(document, {}, Asked("directory")), write=False)
    assert transport.calls[0].timeout == 300.0


# Other paths


def test_a_path_of_auth_answers_its_json_and_an_empty_body_is_an_empty_object() -> None:
    transport = ScriptedTransport(text_answer("", 200), json_answer({"a": 1}))
    session = session_of(transport)
    finish = "/auth/opaque/register/finish"
    assert session.post(finish, {"x": "y"}, authenticated=True, write=True) == {}
    assert transport.calls[0].json == {"x": "y"}
    assert session.post(finish, {"x": "y"}, authenticated=True, write=True) == {"a": 1}


def test_a_path_of_auth_without_a_token_needs_no_login() -> None:
    transport = ScriptedTransport(json_answer({"a": 1}))
    session = session_of(transport)
    session.post("/auth/opaque/login/start", {"username": "b"}, authenticated=False, write=False)
    assert transport.logins == []
    assert transport.calls[0].token == ""


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (text_answer("`Entity not found: `bob``", 400), NotFound),
        (text_answer("Bad request: `x`", 400), Rejected),
        (json_answer({"error_code": "opaque_v07_version"}, 409), Conflict),
        (json_answer([1]), BadAnswer),
        (text_answer("nothing here", 404), BadAnswer),
        (text_answer("oops", 500), BadAnswer),
    ],
)
def test_other_answers_of_a_path_of_auth_are_typed_errors(
    answer: Answer, kind: type[LldapError]
) -> None:
    session = session_of(ScriptedTransport(answer))
    with pytest.raises(kind) as caught:
        session.post(START, {"username": "bob"}, authenticated=True, write=True)
    assert type(caught.value) is kind


# What is seen of it


def test_calls_and_logins_are_counted_with_their_outcome() -> None:
    clock, metrics = FakeClock(), Recorded()
    transport = ScriptedTransport(advancing(clock, 0.5, OK), failed("odd"))
    session = session_of(transport, clock, metrics=metrics)
    session.graphql(READ, write=False)
    with pytest.raises(LldapError):
        session.graphql(WRITE, write=True)
    assert metrics.calls == [("users", "ok", 0.5), ("deleteUser", "Unclassified", 0.0)]
    assert metrics.logins == ["ok"]


def test_a_refused_login_is_counted() -> None:
    metrics = Recorded()
    transport = ScriptedTransport(OK, logins=(text_answer("", 401),))
    with pytest.raises(LoginRefused):
        session_of(transport, metrics=metrics).graphql(READ, write=False)
    assert metrics.logins == ["LoginRefused"]
    assert metrics.calls == [("users", "LoginRefused", 0.0)]


def test_B14_neither_password_nor_token_is_in_a_repr_or_an_error() -> None:
    credentials = Credentials("admin", CANARY)
    token = json_answer({"token": "S3cr3t-TOKEN"})
    echo = text_answer(f"{CANARY} S3cr3t-TOKEN", 500)
    transport = ScriptedTransport(echo, logins=(token, echo))
    session = session_of(transport, credentials=lambda: credentials)
    seen = [repr(credentials), repr(session.login()), repr(token)]
    for attempt in (lambda: session.graphql(READ, write=False), session.renew):
        with pytest.raises(LldapError) as caught:
            attempt()
        error: BaseException | None = caught.value
        while error is not None:
            seen.append(f"{error!r}{error.__dict__}")
            error = error.__cause__ or error.__context__
    assert not [text for text in seen if "S3cr3t" in text]


def test_the_operators_own_groups_are_those_of_the_account_that_logged_in() -> None:
    answer = data({"user": {"id": "admin", "groups": [{"id": 1, "displayName": "lldap_admin"}]}})
    transport = ScriptedTransport(answer)
    assert Client(session_of(transport)).own_groups() == {1: "lldap_admin"}
    assert transport.calls[0].json["variables"] == {"userId": "Admin"}
