"""The command line: `lldap-operator run`, `doctor`, `release`, `export`, `import-bootstrap`."""

import argparse
import gc
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from controller import stdout
from controller.configuration.config import ConfigError, add_flags, load
from controller.configuration.variable import detect
from controller.doctor.doctor import add_doctor, run_doctor
from controller.log import configure
from controller.memory import give_back_large_buffers
from controller.migrate.commands import Console, add_commands
from controller.redaction import Redactor
from controller.release.release import add_release, run_release
from controller.run import Assembly
from controller.stop import Stop
from controller.version import VERSION

MISTAKE = 2  # exit code: the configuration, or the command line, cannot be used

# Every cached object is a tree of dicts that hold no cycles: by Python's own thresholds two thirds
# of the CPU time of reading a long list goes into collections that find nothing.
GC_THRESHOLDS = (50_000, 20, 100)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    try:
        return _command(_parser().parse_args(argv))
    finally:
        stdout.flush()


def _command(arguments: argparse.Namespace) -> int:
    detected = detect(os.environ, terminal=sys.stderr.isatty())
    try:
        match arguments.command:
            case "doctor":
                return run_doctor(arguments, os.environ, detected, stdout.say)
            case "release":
                return run_release(arguments, os.environ, detected, stdout.say)
            case "export" | "import-bootstrap":
                return int(arguments.run(arguments, Console.of_process()))
        return _run(arguments, detected)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return MISTAKE


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line; the usage, which is a screenful, only when asked for it."""

    def error(self, message: str) -> NoReturn:
        self.exit(MISTAKE, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(
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
    doctor = commands.add_parser(
        "doctor",
        help="look at everything that the operator needs, and say what to mend",
        description="Looks at lldap, the API server and what both say of each other with the "
        "operator's own configuration, and changes nothing.",
        epilog="Exit codes: 0 when nothing is wrong, 1 when something is, 2 when the configuration "
        "cannot be used.",
        allow_abbrev=False,
    )
    add_doctor(doctor)
    release = commands.add_parser(
        "release",
        help="let objects and accounts go; both stay",
        description="Takes the operator's finalizers and status off the objects of its instance, "
        "and its marks off lldap if LLDAP_URL is set and lldap answers. Nothing else is changed. "
        "Needs no running operator; one that runs takes the objects up again.",
        epilog="Exit codes: 0 when all was released or nothing was to be, 1 when something was "
        "not, 2 when the configuration cannot be used or there is no such namespace.",
        allow_abbrev=False,
    )
    add_release(release)
    add_commands(commands)
    return parser


def _run(arguments: argparse.Namespace, detected: Mapping[str, str]) -> int:
    give_back_large_buffers()
    gc.freeze()  # what was imported stays
    gc.set_threshold(*GC_THRESHOLDS)
    stop = Stop()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop.request())
    flags = {name: value for name, value in vars(arguments).items() if name != "command"}
    config = load(os.environ, flags, detected)
    redactor = Redactor()
    configure(sys.stderr, config.log_level, config.log_format, redactor)
    return Assembly(config, redactor, stop).manager().run()
