"""Compare a real lldap with the embedded one: `python -m tests.reallldap http://127.0.0.1:17170`.

Each case of tests/reallldap is played on both, and whatever they show differently is
printed. With KUBEBUILDER_ASSETS set the real one is played with a real API server. Its
administrator is `admin` with the password of the tests; all that it holds beside its built-in
groups and that account is deleted before each case, so it must be one to play with.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from lldap.names import BUILT_IN_GROUPS
from sandbox.controlplane import ASSETS_VARIABLE, ControlPlane
from tests.reallldap.bed import AllRealBed, LldapAdmin, RealLldapBed, hang_up
from tests.reallldap.cases import CASES
from tests.reallldap.seen import Case, Seen
from tests.support.bed import ROOT, Bed


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def empty(bed: Bed) -> None:
    """Delete all that people or earlier cases made."""
    admin = LldapAdmin(bed)
    found = admin.ask("{users {id} groups {id displayName}}")
    for user in found["users"]:
        if user["id"] != "admin":
            admin.delete_user(user["id"])
    for group in found["groups"]:
        if group["displayName"] not in BUILT_IN_GROUPS:
            admin.ask("mutation($g: Int!) {deleteGroup(groupId: $g) {ok}}", g=group["id"])
    for target, schema in admin.directory()["schema"].items():
        kind = "User" if target.startswith("user") else "Group"
        query = f"mutation($n: String!) {{delete{kind}Attribute(name: $n) {{ok}}}}"
        for attribute in schema["attributes"]:
            if not attribute["isHardcoded"]:
                admin.ask(query, n=attribute["name"])


@contextmanager
def real_bed(url: str, plane: ControlPlane | None) -> Iterator[Bed]:
    """An operator in front of the real lldap, emptied."""
    made = type("RealLldapBedHere", (RealLldapBed,), {"url": url})
    with ExitStack() as stack:
        first = made()
        stack.callback(hang_up, first)
        empty(first)
        bed = made() if plane is None else stack.enter_context(AllRealBed(plane, url))
        stack.callback(hang_up, bed)
        yield bed


def play(case: Case, bed: Bed) -> list[Seen]:
    return list(case(bed))


def differences(one: list[Seen], other: list[Seen]) -> Iterator[str]:
    for number, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            yield f"  step {number} {mine[0]}:\n    sandbox {mine[1]}\n    real    {theirs[1]}"
    if len(one) != len(other):
        yield f"  {len(one)} steps on the sandbox, {len(other)} on the real one"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reallldap", description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--case", choices=CASES, action="append")
    parser.add_argument("--show", action="store_true", help="print what was seen, too")
    arguments = parser.parse_args()
    failed = 0
    with ExitStack() as stack:
        plane: ControlPlane | None = None
        if os.environ.get(ASSETS_VARIABLE):
            plane = stack.enter_context(ControlPlane(Path(os.environ[ASSETS_VARIABLE])))
            plane.install(ROOT / "deploy/crds")
        for name in arguments.case or CASES:
            expected: Any = play(CASES[name], Bed())
            with real_bed(arguments.url, plane) as bed:
                seen = play(CASES[name], bed)
            found = list(differences(expected, seen))
            failed += bool(found)
            say(f"{'DIFFERS' if found else 'same':8}{name}, {len(seen)} looks")
            for line in found:
                say(line)
            if arguments.show:
                for what, value in seen:
                    say(f"    {what}: {value}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
