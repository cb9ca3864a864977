"""The two commands: their flags, their streams, their exit codes."""

import argparse
import io
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from controller.clock import SystemClock
from controller.configuration.config import ConfigError, load
from controller.configuration.credentials import CredentialsError
from controller.configuration.variable import detect
from controller.migrate.bootstrap.folder import FolderError
from controller.migrate.bootstrap.importer import BootstrapImport
from controller.migrate.export import Export
from controller.migrate.manifests import Manifest
from controller.migrate.output import Folder, OutputError, print_documents
from controller.migrate.progress import Progress
from controller.migrate.report import Report
from controller.migrate.selection import Selection
from controller.migrate.settings import (
    ADMIN,
    INSTANCE,
    VIRTUAL,
    add_namespace,
    add_variables,
    flags_of,
    place_of,
)
from controller.oneshot import lldap_server
from lldap import Client, Forbidden, LldapError, LoginRefused, Unsupported

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - its only name

ALL: Final = 0
PARTLY: Final = 1  # something could not be carried over; the rest was
MISTAKE: Final = 2
FAILED: Final = 3  # lldap could not be read, or the files not written

STOPPED: Final = 130  # as a shell has it after Ctrl-C

_NOT_TO_BE_REPEATED: Final = (LoginRefused, Forbidden, Unsupported)
_CONNECTION: Final = (
    "LLDAP_URL",
    ADMIN,
    "LLDAP_ADMIN_PASSWORD",
    "LLDAP_ADMIN_PASSWORD_FILE",
    "LLDAP_CA_FILE",
)
_EXIT_CODES: Final = (
    "Exit codes: 0 all was carried over, 1 something could not be (standard error says what, and "
    "the rest was), 2 the command line, the configuration or the folder cannot be used, 3 {}."
)


@dataclass(frozen=True, slots=True)
class Console:
    """What a command reads and writes besides its files."""

    environ: Mapping[str, str]
    out: TextIO
    err: TextIO

    @classmethod
    def of_process(cls) -> "Console":
        """The process's own; manifests are UTF-8 whatever the locale."""
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        return cls(os.environ, sys.stdout, sys.stderr)


_Make = Callable[[argparse.Namespace, Console, Report, Progress], list[Manifest]]


def add_commands(commands: "Subparsers") -> None:
    """Add both; `arguments.run(arguments, console)` then runs the chosen one: the exit code."""
    _add_export(commands)
    _add_import_bootstrap(commands)


def _add_export(commands: "Subparsers") -> None:
    parser = commands.add_parser(
        "export",
        help="write manifests of what a live lldap holds",
        description="Writes manifests of what lldap holds: attribute schemas, groups, users and "
        "memberships. Reads lldap and changes nothing there; nor does applying them, but for "
        "one attribute by which the operator marks each account and group as taken over. "
        "Passwords stay what they are (passwordPolicy Ignore).",
        epilog=_EXIT_CODES.format("lldap could not be read, or the manifests not be written"),
        allow_abbrev=False,
    )
    _add_output(parser)
    for thing in ("user", "group", "attribute"):
        parser.add_argument(
            f"--{thing}",
            action="append",
            default=[],
            metavar="PATTERN",
            help=f"Only {thing}s of this name, * and ? are wildcards; may be repeated.",
        )
    parser.add_argument(
        "--secrets", action="store_true", help="Also write an empty Secret a user, to fill in."
    )
    add_variables(parser, (*_CONNECTION, INSTANCE, VIRTUAL))
    parser.set_defaults(run=export)


def _add_import_bootstrap(commands: "Subparsers") -> None:
    parser = commands.add_parser(
        "import-bootstrap",
        help="write manifests of what a folder of lldap's bootstrap.sh asks for",
        description="Writes manifests of what a folder of lldap's bootstrap.sh asks for. Asks "
        "neither lldap nor the network.",
        epilog=_EXIT_CODES.format("the manifests could not be written"),
        allow_abbrev=False,
    )
    parser.add_argument(
        "directory",
        type=Path,
        metavar="DIR",
        help="Folder with user-configs, group-configs, user-schemas and group-schemas.",
    )
    _add_output(parser)
    parser.add_argument(
        "--passwords",
        action="store_true",
        help="Write the users' passwords into Secrets, where everybody who sees the output can "
        "read them; without it, none is written.",
    )
    add_variables(parser, (ADMIN, INSTANCE, VIRTUAL))
    parser.set_defaults(run=import_bootstrap)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="Write NAMESPACE/KIND/NAME.yaml below this folder instead of one stream of "
        "documents to standard output; files that are right already stay untouched.",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="Say what would be written, and write nothing."
    )
    add_namespace(parser)


# --- running them -------------------------------------------------------------------------------


def export(arguments: argparse.Namespace, console: Console) -> int:
    """Run `export`; the exit code."""
    return _carried_over(_export, arguments, console)


def import_bootstrap(arguments: argparse.Namespace, console: Console) -> int:
    """Run `import-bootstrap`; the exit code."""
    return _carried_over(_import_bootstrap, arguments, console)


def _carried_over(make: _Make, arguments: argparse.Namespace, console: Console) -> int:
    report, progress = Report(console.err), Progress(console.err, time.monotonic)
    try:
        if arguments.output is not None and not arguments.dry_run:
            Folder(arguments.output).check()
        made = make(arguments, console, report, progress)
        _deliver(made, arguments, console.out, report, progress)
    except (ConfigError, CredentialsError, FolderError) as error:
        report.say(str(error))
        return MISTAKE
    except LldapError as error:
        report.say(f"lldap: {error}")
        return MISTAKE if isinstance(error, _NOT_TO_BE_REPEATED) else FAILED
    except OutputError as error:
        report.say(str(error))
        return FAILED
    except KeyboardInterrupt:
        report.say("stopped: what was written is not all")
        return STOPPED
    return PARTLY if report.left_out_count else ALL


def _export(
    arguments: argparse.Namespace, console: Console, report: Report, progress: Progress
) -> list[Manifest]:
    flags = flags_of(arguments)
    config = load(console.environ, flags, detect(console.environ, terminal=False))
    what = Export(
        own_user=config.lldap_admin_username,
        place=place_of(console.environ, flags, arguments.namespace),
        selection=Selection(arguments.user, arguments.group, arguments.attribute),
        secrets=arguments.secrets,
    )
    with lldap_server(config, SystemClock()) as lldap:
        return what.run(Client(lldap.session), report, progress)


def _import_bootstrap(
    arguments: argparse.Namespace, console: Console, report: Report, progress: Progress
) -> list[Manifest]:
    flags = flags_of(arguments)
    what = BootstrapImport(
        path=arguments.directory,
        own_user=flags.get(ADMIN.lower()) or console.environ.get(ADMIN) or "admin",
        place=place_of(console.environ, flags, arguments.namespace),
        passwords=arguments.passwords,
    )
    return what.run(report, progress)


def _deliver(
    made: Sequence[Manifest],
    arguments: argparse.Namespace,
    out: TextIO,
    report: Report,
    progress: Progress,
) -> None:
    """Write the manifests where they are wanted, or say what that would be."""
    if arguments.output is None:
        if not arguments.dry_run:
            print_documents(made, out)
        return
    folder = Folder(arguments.output)
    changes = folder.compare(made) if arguments.dry_run else folder.write(made, progress)
    changes.tell(report, done=not arguments.dry_run)
