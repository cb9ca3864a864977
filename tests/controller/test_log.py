import base64
import gc
import io
import json
import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.configuration.values import LogFormat, LogLevel
from controller.log import OWN_LOGGERS, LogHandler, configure, with_fields
from controller.redaction import REDACTED, Redactor

CANARY = "S3cr3t-CANARY-é \"'\\/+"


@pytest.fixture
def untouched() -> Iterator[None]:
    """Logging, hooks and warnings as they were, afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name in OWN_LOGGERS:
        logging.getLogger(name).setLevel(logging.NOTSET)
    sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
    logging.captureWarnings(capture=False)


class Log:
    """What was written, whole and as JSON objects."""

    def __init__(self, line_format: LogFormat, level: LogLevel = LogLevel.INFO) -> None:
        self.stream = io.StringIO()
        self.redactor = Redactor()
        configure(self.stream, level, line_format, self.redactor)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.split("\n") if line]


@pytest.fixture
def lines(untouched: None) -> Log:
    return Log(LogFormat.JSON)


@pytest.fixture
def people(untouched: None) -> Log:
    return Log(LogFormat.TEXT)


logger = logging.getLogger("controller.test")


def fail(error: Exception) -> None:
    raise error


def test_a_json_line_has_time_level_message_logger_and_fields(lines: Log) -> None:
    log = with_fields(logger, kind="LldapUser", namespace="team-a", name="alice")

    log.info("%s is Ready", "alice", fields={"reason": "Verified", "generation": 3, "extra": None})

    (line,) = lines.objects
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "message": "alice is Ready",
        "logger": "controller.test",
        "kind": "LldapUser",
        "namespace": "team-a",
        "name": "alice",
        "reason": "Verified",
        "generation": 3,
        "extra": None,
    }


def test_a_text_line_has_the_fields_behind_the_message(people: Log) -> None:
    with_fields(logger, kind="LldapUser").warning("no Secret", fields={"name": "alice"})

    assert people.text.endswith("Z WARNING no Secret kind=LldapUser name=alice\n")


def test_a_field_cannot_pose_as_the_level_or_the_message(lines: Log) -> None:
    with_fields(logger, level="debug", message="x", time="never").error("true")

    assert lines.objects[0]["level"] == "error"
    assert lines.objects[0]["message"] == "true"


def test_an_error_brings_its_traceback(lines: Log, people: Log) -> None:
    try:
        fail(ValueError("broken"))
    except ValueError:
        logger.exception("failed")

    assert "ValueError: broken" in people.text
    assert people.text.count("\n") > 3, "lines of its own, for people"


def test_one_json_object_is_one_line(lines: Log) -> None:
    try:
        fail(ValueError("two\nlines\u2028three"))
    except ValueError:
        logger.exception("a\nb")

    assert len(lines.text.split("\n")) == 2
    assert lines.objects[0]["message"] == "a\nb"
    assert "ValueError: two\nlines" in lines.objects[0]["stacktrace"]


def test_a_name_cannot_steer_the_terminal_or_forge_a_line(people: Log) -> None:
    logger.error("user %s", "a\x1b[2J\n2030-01-01 INFO all is well\r\x9b\u2028")

    assert people.text.count("\n") == 1
    assert people.text.isprintable() or people.text[:-1].isprintable()
    assert "\\x1b[2J\\n2030" in people.text


@pytest.mark.parametrize(
    "value",
    ["\ud800 lone surrogate", 2**70, float("nan"), b"bytes", {"a": 1}, object()],
    ids=["lone surrogate", "big", "nan", "bytes", "dict", "object"],
)
def test_any_value_can_be_logged(lines: Log, value: object) -> None:
    # pytest's own handlers would put the record into a report, which must be UTF-8.
    root = logging.getLogger()
    root.handlers[:] = [handler for handler in root.handlers if isinstance(handler, LogHandler)]

    with_fields(logger, value=value).info("%s", value)

    assert len(lines.objects) == 1


def test_B14_arguments_that_do_not_fit_are_not_printed(
    untouched: None, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Log(LogFormat.JSON)
    lines.redactor.register("password", CANARY)
    logger.info("%d", CANARY)
    logger.info("%s and %s", *[CANARY])

    assert [line["message"] for line in lines.objects] == [
        "%d (its arguments do not fit)",
        "%s and %s (its arguments do not fit)",
    ]
    assert capsys.readouterr().err == ""


def test_B14_a_stream_that_cannot_be_written_to_prints_nothing_elsewhere(
    untouched: None, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log(LogFormat.JSON)
    log.stream.close()
    logger.info("%s", CANARY)

    assert capsys.readouterr().err == ""


def _forms(secret: str) -> list[str]:
    raw = secret.encode()
    return [
        secret,
        repr(secret),
        repr(raw),
        json.dumps(secret),
        json.dumps(secret, ensure_ascii=False),
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(),
        base64.b64encode(b"admin:" + raw).decode(),
        base64.b64encode(b"admi:" + raw + b":x").decode(),
        base64.b64encode(b"adm:" + raw).decode(),
    ]


@pytest.mark.parametrize("line_format", list(LogFormat))
def test_B14_the_canary_is_in_no_line_in_any_form(untouched: None, line_format: LogFormat) -> None:
    log = Log(line_format, LogLevel.DEBUG)
    log.redactor.register("password", CANARY)
    for form in _forms(CANARY):
        logger.debug("said %s", form)
        logger.info(form)
        with_fields(logger, note=form).warning("with a field")
        try:
            fail(TypeError(form))
        except TypeError:
            logger.exception("failed", stack_info=True)

    clear = "S3cr3t-CANARY"
    assert clear not in log.text
    for form in _forms(CANARY):
        middle = form[len(form) // 4 : -len(form) // 4]
        assert middle not in log.text
    assert log.text.count(REDACTED) >= 4 * len(_forms(CANARY))


@given(
    secret=st.text(min_size=4, max_size=40),
    before=st.text(max_size=10),
    after=st.text(max_size=10),
)
def test_B14_a_registered_value_never_comes_through(secret: str, before: str, after: str) -> None:
    redactor = Redactor()
    redactor.register("password", secret)

    redacted = redactor.redact(f"{before}{secret}{after}")

    # What is left beside the mark may by chance be the value again; the value itself is gone.
    assert secret not in redacted.replace(REDACTED, "\0") or secret in f"{before}\0{after}"


@given(secret=st.binary(min_size=9, max_size=40), before=st.binary(max_size=9), after=st.binary())
def test_B14_base64_of_a_value_within_something_is_found(
    secret: bytes, before: bytes, after: bytes
) -> None:
    text = secret.hex()
    redactor = Redactor()
    redactor.register("token", text)

    encoded = base64.b64encode(before + text.encode() + after).decode()

    assert REDACTED in redactor.redact(encoded)


def test_a_rotated_value_stays_out_for_a_while() -> None:
    redactor = Redactor()
    for number in range(4):
        redactor.register("token", f"token-{number}-value")

    redacted = redactor.redact("token-0-value token-1-value token-3-value")

    assert redacted == f"token-0-value {REDACTED} {REDACTED}"
    assert "token" not in repr(redactor)


def test_a_value_shorter_than_four_characters_would_be_given_away() -> None:
    redactor = Redactor()
    redactor.register("password", "abc")

    assert redactor.redact("the alphabet: abcdef") == "the alphabet: abcdef"


def test_other_libraries_are_heard_from_warning_on(untouched: None) -> None:
    log = Log(LogFormat.JSON, LogLevel.DEBUG)

    logging.getLogger("urllib3.connectionpool").debug("GET /secret/path")
    logging.getLogger("kubernetes.client.rest").debug("response body: %s", CANARY)
    logging.getLogger("urllib3").warning("pool is full")
    logging.getLogger("lldap.session").debug("logged in")

    assert [line["message"] for line in log.objects] == ["pool is full", "logged in"]


def test_the_level_is_that_of_the_configuration(untouched: None) -> None:
    log = Log(LogFormat.JSON, LogLevel.WARNING)

    logger.info("not this")
    logger.warning("but this")

    assert [line["message"] for line in log.objects] == ["but this"]


def test_warnings_are_log_records(lines: Log) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=True)
        warnings.warn("old", stacklevel=1)

    assert "old" in lines.objects[0]["message"]


def test_B14_what_nobody_catches_is_logged_without_secrets(lines: Log) -> None:
    lines.redactor.register("password", CANARY)

    thread = threading.Thread(target=fail, args=(ValueError(CANARY),), name="worker-1")
    thread.start()
    thread.join(5.0)
    error = ValueError(CANARY)
    sys.excepthook(ValueError, error, None)

    class Broken:
        def __del__(self) -> None:
            fail(ValueError(CANARY))

    Broken()
    gc.collect()

    assert [line["message"] for line in lines.objects] == [
        "worker-1 ended by an error",
        "ended by an error",
        "an error that nobody could catch",
    ]
    assert "S3cr3t" not in lines.text
    assert REDACTED in lines.text


def test_a_record_of_others_with_fields_of_another_kind_is_written(lines: Log) -> None:
    logging.getLogger("other").warning("x", extra={"fields": ["a"]})

    assert lines.objects[0]["message"] == "x"
