"""The command line: `lldap-operator-sandbox`, an API server and an lldap to try things on."""

import argparse
import random
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from controller.api import KINDS
from controller.api.schema import custom_resource_definition
from controller.clock import SystemClock
from controller.version import VERSION
from informers import PatchType, RestClient
from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.http import ApiServerHttp
from sandbox.apiserver.transport import InProcessTransport
from sandbox.lldap.http import LldapServer
from sandbox.lldap.server import ADMIN, Lldap

BOTH, API_SERVER, LLDAP = "both", "api-server", "lldap"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PASSWORD_FILE = "lldap-password"  # noqa: S105 - the name of a file
NOT_STARTED = 1
WATCH_SECONDS = 1.0


class Ended(Exception):  # noqa: N818 - no error: somebody asked for it
    """SIGTERM or Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the servers until SIGTERM or Ctrl-C; the exit code."""
    arguments = _parser().parse_args(argv)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    try:
        with ExitStack() as stack:
            _start(arguments, stack)
            while True:  # a signal right before a sleep does not end that one
                time.sleep(WATCH_SECONDS)
    except Ended:
        return 0
    except OSError as error:
        sys.stderr.write(f"lldap-operator-sandbox: {error}\n")
        return NOT_STARTED


def _end(_number: int, _frame: object) -> None:
    raise Ended


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "lldap-operator-sandbox",
        description="Runs a Kubernetes API server with the kinds of lldap-operator, and an lldap, "
        "on 127.0.0.1, until Ctrl-C. To try things on: whoever reaches their ports may do "
        "everything.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=VERSION)
    parser.add_argument(
        "what",
        nargs="?",
        default=BOTH,
        choices=(BOTH, API_SERVER, LLDAP),
        help="which of the two to run",
    )
    parser.add_argument(
        "--api-server-port", type=_port, default=0, metavar="PORT", help="0 is any that is free"
    )
    parser.add_argument("--lldap-port", type=_port, default=0, metavar="PORT", help="the same")
    parser.add_argument(
        "--kubeconfig", type=Path, metavar="PATH", help="where to write it; else into the folder"
    )
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help="keeps what the API server holds, and lldap's password, for the next time; else a "
        "temporary one. What lldap holds is not kept: the operator makes it anew",
    )
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        msg = f"{text!r} is not a port"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _start(arguments: argparse.Namespace, stack: ExitStack) -> None:
    """Start what is asked for and say where it is. Raises OSError."""
    folder = stack.enter_context(_folder(arguments.folder))
    if arguments.what != LLDAP:
        kubeconfig = arguments.kubeconfig or folder / "kubeconfig"
        server = stack.enter_context(_api_server(folder, arguments.api_server_port))
        server.kubeconfig(kubeconfig)
        _say(f"API server  {server.url}  KUBECONFIG={kubeconfig}")
    if arguments.what != API_SERVER:
        password = _password(folder)
        lldap = stack.enter_context(_lldap(password.read_text(), arguments.lldap_port))
        _say(f"lldap       {lldap.url}  account {ADMIN}, password in {password}")
    _say("Ctrl-C ends it.")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextmanager
def _folder(named: Path | None) -> Iterator[Path]:
    if named is not None:
        named.mkdir(parents=True, exist_ok=True)
        yield named
        return
    with tempfile.TemporaryDirectory(prefix="lldap-operator-sandbox-") as name:
        yield Path(name)


def _api_server(folder: Path, port: int) -> ApiServerHttp:
    server = ApiServer(SystemClock(), random.SystemRandom(), folder=folder)
    rest = RestClient(InProcessTransport(server), call_seconds=10.0)
    for kind in KINDS:
        crd = custom_resource_definition(kind)
        rest.patch(
            f"{CRDS}/{crd['metadata']['name']}",
            dict(crd),
            content_type=PatchType.APPLY,
            field_manager="sandbox",
            force=True,
        )
    return ApiServerHttp(server, port)


def _password(folder: Path) -> Path:
    """The file of the admin's password, made if it is not there."""
    path = folder / PASSWORD_FILE
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(18))
    return path


def _lldap(password: str, port: int) -> LldapServer:
    return LldapServer(Lldap(SystemClock(), admin_password=password), port)


if __name__ == "__main__":
    sys.exit(main())
