"""B14: passwords are in no log, event, condition, metric or exception, whatever goes wrong."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest
from prometheus_client import generate_latest

from controller.api import KINDS
from controller.log import OWN_LOGGERS, JsonFormatter, TextFormatter
from controller.redaction import Redactor
from informers import ConnectionFailed, RawResponse
from lldap.passwords import Passwords
from sandbox.apiserver.transport import Call as ApiCall
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward, Hook, lose_answer, lose_request, on, refuse
from tests.support.bed import ADMIN_PASSWORD, Bed
from tests.support.process import forms_of

CANARY = "S3cr3t-CANARY-é"
ANOTHER = "An0ther-CANARY-ß"
OPERATIONS = (
    "/auth/simple/login",
    "/auth/opaque/register/start",
    "/auth/opaque/register/finish",
    "/auth/opaque/v07/login/start",
    "/auth/opaque/login/start",
    "createUser",
    "updateUser",
    "user",
    "users",
)


class Log(logging.Handler):
    """Every record of the operator as both formats would write it, with nothing redacted."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.text: list[str] = []
        self._forms = (JsonFormatter(Redactor()), TextFormatter(Redactor()))

    def emit(self, record: logging.LogRecord) -> None:
        self.text += [form.format(record) for form in self._forms]


@pytest.fixture
def log() -> Iterator[Log]:
    handler = Log()
    loggers = [logging.getLogger(name) for name in OWN_LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
    yield handler
    for logger, level in zip(loggers, levels, strict=True):
        logger.removeHandler(handler)
        logger.setLevel(level)


def secrets() -> set[str]:
    found = forms_of(CANARY) | forms_of(ANOTHER) | forms_of(ADMIN_PASSWORD)
    assert all(len(form) >= 8 for form in found)
    return found


def told(bed: Bed, log: Log) -> dict[str, str]:
    """All that the operator has said to anybody but the two servers' own password endpoints."""
    objects = [bed.admin.get(f"/apis/{kind.api_version}/{kind.plural}") for kind in KINDS]
    statuses = [obj.get("status") for found in objects for obj in found["items"]]
    return {
        "log": "\n".join(log.text),
        "events": repr(bed.events.seen),
        "status": orjson.dumps(statuses).decode() + repr(statuses),
        "metrics": generate_latest(bed.metrics.registry).decode(),
        "api": "\n".join(
            f"{answered.call.path} {answered.call.query} {answered.call.body!r}"
            for answered in bed.api_transport.calls
        ),
    }


def assert_clean(bed: Bed, log: Log) -> None:
    for where, text in told(bed, log).items():
        leaked = [form for form in secrets() if form in text]
        assert not leaked, f"{where} has {leaked}"


def make_user(bed: Bed, value: bytes = CANARY.encode()) -> None:
    bed.secret("alice", value)
    reference = {"name": "alice", "key": "password"}
    bed.user("alice", passwordPolicy="Manage", passwordSecretRef=reference)


def echo(status: int, content_type: str = "text/plain") -> Hook:
    """A server that repeats what it was sent, as a debugging proxy does."""

    def hook(call: Call, _forward: Forward) -> Response:
        said = f"cannot serve {call.data.decode(errors='replace')} {CANARY} {ADMIN_PASSWORD}"
        if content_type == "application/json":
            return Response.of_json(status, {"errors": [{"message": "no"}], "echo": said})
        return Response(status, [("content-type", content_type)], said.encode())

    return hook


FAULTS: dict[str, Hook] = {
    "500": echo(500),
    "502": echo(502, "text/html"),
    "401": echo(401),
    "400": echo(400),
    "409": echo(409),
    "200": echo(200),
    "json": echo(200, "application/json"),
    "refused": refuse,
    "lost request": lose_request,
    "lost answer": lose_answer,
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_B14_no_fault_of_lldap_brings_a_password_out(operation: str, fault: str, log: Log) -> None:
    bed = Bed()
    bed.lldap.hooks.append(on(operation, FAULTS[fault], times=4))
    make_user(bed)
    bed.run(3)
    bed.secret("alice", ANOTHER.encode())
    bed.user(
        "alice",
        email="other@example.org",
        passwordPolicy="Manage",
        passwordSecretRef={"name": "alice", "key": "password"},
    )
    bed.run(2000, step=50)
    assert_clean(bed, log)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert bed.login("alice", ANOTHER) == 200


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (CANARY.encode() * 400, "PasswordRejected"),
        (CANARY.encode() + b"\xff", "PasswordRejected"),
        (CANARY.encode() + b"\n", "Verified"),
    ],
)
def test_B14_no_odd_password_comes_out(value: bytes, reason: str, log: Log) -> None:
    bed = Bed()
    make_user(bed, value)
    bed.run(3)
    assert bed.ready("LldapUser", "alice")[1] == reason
    assert_clean(bed, log)


def status_that_quotes(code: int) -> RawResponse:
    message = f"the Secret is {CANARY}"
    body = {"kind": "Status", "code": code, "reason": "Invalid", "message": message}
    return RawResponse(code, {}, orjson.dumps(body))


SECRET_ANSWERS: dict[str, Callable[[], RawResponse]] = {
    "half": lambda: RawResponse(200, {}, b'{"data":{"password":"' + CANARY.encode()),
    "no base64": lambda: RawResponse(
        200,
        {},
        orjson.dumps(
            {"metadata": {"uid": "1", "resourceVersion": "1"}, "data": {"password": CANARY}}
        ),
    ),
    "no metadata": lambda: RawResponse(
        200, {}, orjson.dumps({"data": {"password": "UzNjcjN0LUNBTkFSWS3DqQ=="}})
    ),
    "400": lambda: status_that_quotes(400),
    "422": lambda: status_that_quotes(422),
    "text": lambda: RawResponse(200, {}, CANARY.encode()),
}


@pytest.mark.parametrize("answer", SECRET_ANSWERS)
def test_B14_no_answer_with_the_secret_in_it_comes_out(answer: str, log: Log) -> None:
    bed = Bed()
    make_user(bed)

    def before(call: ApiCall) -> RawResponse | None:
        return SECRET_ANSWERS[answer]() if call.path.endswith("/secrets/alice") else None

    bed.api_transport.before = before
    bed.run(10)
    assert bed.ready("LldapUser", "alice")[0] == "False"
    assert_clean(bed, log)
    bed.api_transport.before = lambda _call: None
    bed.run(2000, step=50)
    assert bed.ready("LldapUser", "alice")[0] == "True"


def test_B14_an_error_of_the_operator_itself_quotes_nothing(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_self: Passwords, _user: str, password: bytes, *_: Any, **__: Any) -> Any:
        return password + None  # type: ignore[operator]

    monkeypatch.setattr(Passwords, "set_password", broken)
    monkeypatch.setattr(Passwords, "has_password", broken)
    bed = Bed()
    make_user(bed)
    bed.run(3)
    assert bed.ready("LldapUser", "alice") == ("False", "InternalError")
    assert "TypeError" in "\n".join(log.text)
    assert_clean(bed, log)


def test_B14_a_kubectl_annotation_with_the_values_is_not_kept(log: Log) -> None:
    bed = Bed()
    make_user(bed)
    bed.admin.patch(
        "/api/v1/namespaces/team-a/secrets/alice",
        {"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": CANARY}}},
        content_type="application/merge-patch+json",
    )
    bed.run(3)
    assert_clean(bed, log)
    assert CANARY not in repr(bed.operator.secrets.lister.list())


def test_a_connection_that_breaks_says_nothing_of_what_was_sent(log: Log) -> None:
    bed = Bed()

    def after(call: ApiCall, _status: int) -> None:
        if "/secrets/" in call.path:
            raise ConnectionFailed("reset", sent=True)

    bed.api_transport.after = after
    make_user(bed)
    bed.run(10)
    assert_clean(bed, log)


@pytest.mark.parametrize("form", sorted(forms_of(CANARY)))
def test_the_check_itself_finds_every_form_in_a_log_line(form: str, log: Log) -> None:
    bed = Bed()
    assert_clean(bed, log)
    logging.getLogger("controller.test").debug("the password is %s, isn't it", form)
    with pytest.raises(AssertionError, match="log has"):
        assert_clean(bed, log)
