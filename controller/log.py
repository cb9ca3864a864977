"""Log records of the operator: text for people, one JSON object a line for machines.

Libraries other than ours are heard from WARNING on, whatever the level: the Kubernetes client
logs whole answers at DEBUG, Secrets included, and urllib3 every path.
"""

import datetime
import json
import logging
import sys
import threading
from collections.abc import Mapping, MutableMapping
from types import TracebackType
from typing import Any, Final, TextIO

import orjson

from controller.configuration.values import LogFormat, LogLevel
from controller.redaction import Redactor

OWN_LOGGERS: Final = ("controller", "informers", "lldap", "workqueue")

_logger = logging.getLogger(__name__)

# All that would let a name from lldap or an object steer the terminal or begin a line of its own.
_ESCAPES: Final = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (9, 10)
} | {0x2028: "\\u2028", 0x2029: "\\u2029"}
_ONE_LINE: Final = _ESCAPES | {9: "\\t", 10: "\\n"}


class FieldLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger whose records carry fields (kind, namespace, name, reconcile_id...). Any thread.

    `info("...", fields={...})` adds fields to one record.
    """

    def __init__(self, logger: logging.Logger, fields: Mapping[str, object]) -> None:
        super().__init__(logger, fields)
        self._fields = fields

    def process(
        self, msg: object, kwargs: MutableMapping[str, Any]
    ) -> tuple[object, MutableMapping[str, Any]]:
        """Put the fields on the record."""
        fields = kwargs.pop("fields", None)
        kwargs["extra"] = {"fields": {**self._fields, **fields} if fields else self._fields}
        return msg, kwargs


def with_fields(logger: logging.Logger, **fields: object) -> FieldLogger:
    """`logger` with `fields` on each record."""
    return FieldLogger(logger, fields)


class RecordFormatter(logging.Formatter):
    """What both formats share: the parts of a record as text, free of registered secrets.

    Never raises: what logging itself would print about a record that cannot be formatted
    quotes the arguments.
    """

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redact = redactor.redact

    def message_of(self, record: logging.LogRecord) -> str:
        """The message with its arguments filled in."""
        try:
            return self._redact(record.getMessage())
        except Exception:  # noqa: BLE001 -- any __str__ may raise anything
            return self._redact(f"{record.msg} (its arguments do not fit)")

    def trace_of(self, record: logging.LogRecord) -> str:
        """Traceback and stack, or ""."""
        parts = []
        if record.exc_info and record.exc_info[1] is not None:
            parts.append(self.formatException(record.exc_info))
        if record.stack_info:
            parts.append(self.formatStack(record.stack_info))
        return self._redact("\n".join(parts))

    def fields_of(self, record: logging.LogRecord) -> dict[str, str | int | float | bool | None]:
        """The fields, each a JSON value."""
        fields = getattr(record, "fields", None)
        if not isinstance(fields, Mapping):
            return {}
        return {name: self._plain(value) for name, value in fields.items()}

    def _plain(self, value: object) -> str | int | float | bool | None:
        if value is None or isinstance(value, int | float):
            return value
        return self._redact(str(value))


class JsonFormatter(RecordFormatter):
    """One JSON object a line: time, level, message, logger, then the record's fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        line: dict[str, object] = {
            "time": _time_of(record),
            "level": record.levelname.lower(),
            "message": self.message_of(record),
            "logger": record.name,
        }
        line = {**self.fields_of(record), **line}
        if trace := self.trace_of(record):
            line["stacktrace"] = trace
        try:
            return orjson.dumps(line).decode()
        except (orjson.JSONEncodeError, TypeError):  # a lone surrogate, an integer over 64 bits
            return json.dumps(line)


class TextFormatter(RecordFormatter):
    """Time, level, message, fields as key=value; a traceback on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """The lines, without the last one's end."""
        fields = "".join(f" {name}={value}" for name, value in self.fields_of(record).items())
        head = f"{_time_of(record)} {record.levelname:<7} {self.message_of(record)}{fields}"
        trace = self.trace_of(record).translate(_ESCAPES)
        return "\n".join(filter(None, (head.translate(_ONE_LINE), trace)))


def _time_of(record: logging.LogRecord) -> str:
    moment = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


class LogHandler(logging.StreamHandler[TextIO]):
    """Writes to a stream; a stream that cannot be written to is no reason to stop or to quote."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 -- logging's name
        """Drop the record: logging's own report would print its arguments."""


def configure(
    stream: TextIO, level: LogLevel, line_format: LogFormat, redactor: Redactor
) -> logging.Handler:
    """Send all logging to `stream`, and what ends a thread or the process by an error as well.

    Once, at the start of a process; takes the place of whatever was configured before.
    """
    handler = LogHandler(stream)
    form = TextFormatter if line_format is LogFormat.TEXT else JsonFormatter
    handler.setFormatter(form(redactor))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in OWN_LOGGERS:
        logging.getLogger(name).setLevel(level.upper())
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_uncaught
    threading.excepthook = _log_thread_death
    sys.unraisablehook = _log_unraisable
    return handler


def _log_uncaught(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    _logger.critical("ended by an error", exc_info=(kind, error, traceback))


def _log_thread_death(args: threading.ExceptHookArgs) -> None:
    name = args.thread.name if args.thread else "a thread"
    error = args.exc_value or args.exc_type()
    _logger.critical("%s ended by an error", name, exc_info=error)


def _log_unraisable(args: "sys.UnraisableHookArgs") -> None:
    _logger.error("an error that nobody could catch", exc_info=args.exc_value)
