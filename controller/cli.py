"""The command line: `lldap-operator run`."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence

from controller.config import ConfigError, add_flags, load
from controller.config_variable import detect
from controller.log import configure
from controller.redaction import Redactor
from controller.run import Assembly
from controller.stop import Stop
from controller.version import VERSION

MISTAKE = 2  # exit code: the configuration, or the command line, cannot be used


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        return _run(arguments)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return MISTAKE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "lldap-operator",
        description="Runs the users, groups, memberships and attributes of lldap from "
        "Kubernetes objects.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run",
        help="serve the objects of one instance",
        description="Serves the objects of one instance until it is told to stop. Every flag is "
        "also an environment variable: --lldap-url is LLDAP_URL.",
        epilog="Exit codes: 0 after SIGTERM or Ctrl-C, 1 when the Lease was lost or a thread "
        "died, 2 when the configuration cannot be used.",
        allow_abbrev=False,
    )
    add_flags(run)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    stop = Stop()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop.request())
    flags = {name: value for name, value in vars(arguments).items() if name != "command"}
    config = load(os.environ, flags, detect(os.environ, terminal=sys.stderr.isatty()))
    redactor = Redactor()
    configure(sys.stderr, config.log_level, config.log_format, redactor)
    return Assembly(config, redactor, stop).manager().run()
