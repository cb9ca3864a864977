"""The points of a run: every outward call and every watch event, by label and number."""

import enum
from collections import Counter
from dataclasses import dataclass


class Category(enum.Enum):
    """What passes at a point, which decides what can go wrong there."""

    LLDAP_READ = "lldap read"
    LLDAP_WRITE = "lldap write"
    API_READ = "api read"
    API_WRITE = "api write"
    LIST = "list"
    WATCH = "watch"
    EVENT = "event"


WRITES = frozenset({Category.LLDAP_WRITE, Category.API_WRITE})


@dataclass(frozen=True, slots=True)
class Point:
    """One call or event of one run. Numbers begin at 1 for each label."""

    label: str
    number: int
    category: Category

    @property
    def address(self) -> str:
        return f"{self.label}#{self.number}"


class Points:
    """Numbers the points of one run from the moment on that it is armed. One thread."""

    def __init__(self) -> None:
        self.armed = False
        self.passed: list[Point] = []
        self._counts: Counter[str] = Counter()

    def at(self, label: str, category: Category) -> Point | None:
        """The next point with that label; None while the run is only prepared."""
        if not self.armed:
            return None
        self._counts[label] += 1
        point = Point(label, self._counts[label], category)
        self.passed.append(point)
        return point


_MUTATIONS = ("create", "update", "delete", "add", "remove")


def lldap_category(operation: str) -> Category:
    """By the first field of a document, or the path of an endpoint.

    register/start changes nothing by itself, yet the product sends it once, as a write.
    """
    write = operation.startswith(_MUTATIONS) or "/register/" in operation
    return Category.LLDAP_WRITE if write else Category.LLDAP_READ


_BASES = ("/apis/lldap-operator.lukidoescode.com/v1alpha1/", "/api/v1/", "/apis/")


def short(path: str) -> str:
    """A path of the API server without what is the same everywhere."""
    for base in _BASES:
        if path.startswith(base):
            path = path.removeprefix(base)
            break
    return path.removeprefix("namespaces/") if path.count("/") > 1 else path
