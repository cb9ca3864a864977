"""Liveness and readiness: named checks behind /healthz and /readyz."""

import logging
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs

from controller.loop import Loop
from controller.serving.httpmessage import Handler, Request, Response, plain

_logger = logging.getLogger(__name__)

Check = Callable[[], str | None]
"""None if all is well, else what is missing, in a few words without secrets. Any thread; quick."""


def probe_routes(
    liveness: Mapping[str, Check], readiness: Mapping[str, Check]
) -> dict[str, Handler]:
    """The routes of the health server.

    A live process that is not ready is left alone; one that is not live is started anew: so
    liveness has only checks of what a new start mends, and none of lldap or the API server.
    """
    return {"/healthz": _handler(liveness), "/readyz": _handler(readiness)}


def _handler(checks: Mapping[str, Check]) -> Handler:
    def handle(request: Request) -> Response:
        verbose = "verbose" in parse_qs(request.query, keep_blank_values=True)
        return _report(checks, verbose=verbose)

    return handle


def no_loop_failed(loops: Sequence[Loop]) -> Check:
    """The liveness check that names the loops that an error has ended."""

    def check() -> str | None:
        failed = [loop.name for loop in loops if loop.error is not None]
        return f"ended by an error: {', '.join(failed)}" if failed else None

    return check


_OK: Final = "ok"


def _report(checks: Mapping[str, Check], *, verbose: bool) -> Response:
    """200 if every check holds. What is missing is named always, what holds if `verbose`."""
    missing = {name: found for name, check in checks.items() if (found := _run(name, check))}
    if not missing and not verbose:
        return plain(HTTPStatus.OK, _OK)
    shown = checks if verbose else missing
    lines = [f"[-] {name}: {missing[name]}" if name in missing else f"[+] {name}" for name in shown]
    lines.append("failed" if missing else _OK)
    status = HTTPStatus.SERVICE_UNAVAILABLE if missing else HTTPStatus.OK
    return plain(status, "\n".join(lines))


def _run(name: str, check: Check) -> str | None:
    try:
        return check()
    except Exception as error:  # a check that is broken holds nothing
        _logger.exception("the check %s failed", name)
        return f"the check itself failed ({type(error).__name__})"
