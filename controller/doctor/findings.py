"""What `lldap-operator doctor` says."""

import enum
from collections.abc import Callable
from dataclasses import dataclass


class Verdict(enum.StrEnum):
    """How a check came out: the first word of its line."""

    OK = "ok"
    NOTE = "note"
    WRONG = "WRONG"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was looked at, what was found, and what to do about it."""

    verdict: Verdict
    subject: str
    found: str
    mend: str = ""

    def __str__(self) -> str:
        line = f"{self.verdict:8}{self.subject}: {self.found}"
        return f"{line}\n{' ' * 8}-> {self.mend}" if self.mend else line


Report = Callable[[Finding], None]


def ok(subject: str, found: str) -> Finding:
    """All is well."""
    return Finding(Verdict.OK, subject, found)


def note(subject: str, found: str, mend: str = "") -> Finding:
    """Works, and somebody should know."""
    return Finding(Verdict.NOTE, subject, found, mend)


def wrong(subject: str, found: str, mend: str) -> Finding:
    """Does not work as it should."""
    return Finding(Verdict.WRONG, subject, found, mend)


def unknown(subject: str, found: str, mend: str = "") -> Finding:
    """Could not be looked at; that alone is no fault."""
    return Finding(Verdict.UNKNOWN, subject, found, mend)
