"""Names of objects, made from names in lldap."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

LONGEST_STEM: Final = 80
"""Characters. With a user's 64, and a digest for each and one for both, a membership's name stays
below Kubernetes' 253, and with a suffix below the 255 of a file's name."""

_DIGITS: Final = (8, 16, 32)  # the longer ones for names that were made to look like a digest's
_NOT_ALLOWED: Final = re.compile(r"[^a-z0-9.-]+")
_AROUND_DOTS: Final = re.compile(r"-*\.[-.]*")
_BETWEEN: Final = "--"


class ObjectNames:
    """Gives out names of one kind's objects: valid, no two the same, the same each time.

    A name that is valid in Kubernetes stays what it is. Any other is written with what is left of
    it and the beginning of a digest, so that it does not depend on what else there is.
    """

    def __init__(self, kind: str) -> None:
        """`kind` stands for a name of which nothing is left."""
        self._kind = kind
        self._taken: set[str] = set()

    def give(self, names: Iterable[str]) -> dict[str, str]:
        """The object's name for each of `names`, which are compared as they are."""
        given: dict[str, str] = {}
        # The valid ones first: a digest that looks like one of them has to give way.
        for name in sorted(set(names), key=lambda name: (not _is_valid(name), name)):
            stem = name if _is_valid(name) else _stem(name) or self._kind
            given[name] = self._free(stem, name, plain=_is_valid(name))
        return given

    def give_pair(self, user: str, group: str) -> str:
        """A name for a pair of objects' names."""
        plain = _BETWEEN not in user  # else "a--b" and "c" would be called as "a" and "b--c"
        return self._free(f"{user}{_BETWEEN}{group}", f"{user}/{group}", plain=plain)

    def _free(self, stem: str, name: str, *, plain: bool) -> str:
        digest = hashlib.sha256(name.encode()).hexdigest()
        candidates = [stem] if plain else []
        candidates += [f"{stem}-{digest[:digits]}" for digits in _DIGITS]
        free = next(each for each in candidates if each not in self._taken)
        self._taken.add(free)
        return free


def _is_valid(name: str) -> bool:
    return _stem(name) == name != ""


def _stem(name: str) -> str:
    """What of `name` an object's name can hold: a DNS subdomain, or nothing at all."""
    ascii_only = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    dashed = _NOT_ALLOWED.sub("-", ascii_only.lower())
    return _AROUND_DOTS.sub(".", dashed).strip("-.")[:LONGEST_STEM].strip("-.")
