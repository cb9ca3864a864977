"""What a case shows, and how it looks."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.reallldap.bed import LldapAdmin
from tests.support.accounts import reference
from tests.support.bed import Bed

Seen = tuple[str, Any]
Case = Callable[[Bed], Iterator[Seen]]


def shown(bed: Bed, *objects: tuple[str, str]) -> dict[str, Any]:
    """Ready and its message, by object."""
    return {
        f"{kind} {name}": [*bed.ready(kind, name), bed.message(kind, name)]
        for kind, name in objects
    }


def stood(bed: Bed) -> Any:
    return LldapAdmin(bed).directory()


def calls(bed: Bed) -> list[str]:
    """What was changed since the last look; objects of different kinds come in any order."""
    found = sorted(bed.mutations())
    bed.clear_logs()
    return found


def managed(bed: Bed, name: str, policy: str = "Manage", **spec: Any) -> None:
    bed.user(name, passwordPolicy=policy, passwordSecretRef=reference(), **spec)
