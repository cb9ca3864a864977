"""However a spec was edited before: what counts is what it says now (G7), and the spec before
undoes a bad one (G8)."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.sequences.values import Spec
from tests.support.accounts import resync
from tests.support.bed import Bed

READY = ("True", "Verified")
MOST_BEFORE = 4

Profile = Callable[[Any], Any]
"""Settings, or a seed with them: how many examples, and which."""


@dataclass(frozen=True)
class Subject:
    """A kind whose specs can be edited. `apply` brings an object to a spec.

    `told` is what lldap has of it, with the object's own name left out; `own` of that is another's
    for each object. `refusals`: by the reason that a bad spec may get, whether it changes nothing.
    """

    kind: str
    new_bed: Callable[[], Bed]
    good: st.SearchStrategy[Spec]
    bad: st.SearchStrategy[Spec]
    refusals: Mapping[str, bool]
    apply: Callable[[Bed, str, Spec], None]
    told: Callable[[Bed, str], dict[str, Any]]
    own: tuple[str, ...] = ("uuid",)

    def __repr__(self) -> str:
        return self.kind


class Edits:
    """Both properties of one kind, on one bed. `steps` counts edits. One thread."""

    def __init__(self, subject: Subject) -> None:
        self.steps = 0
        self._subject = subject
        self._bed = subject.new_bed()
        self._numbers = itertools.count()

    def any_edits_end_as_the_last(self, profile: Profile) -> None:
        """And nothing is written any more, also by another operator."""

        @profile
        @given(
            before=st.lists(st.one_of(self._subject.good, self._subject.bad), max_size=MOST_BEFORE),
            last=self._subject.good,
        )
        def check(before: list[Spec], last: Spec) -> None:
            number = next(self._numbers)
            edited, plain = f"edited{number:04}", f"fresh{number:05}"
            for spec in [*before, last]:
                self._apply(edited, spec)
            self._apply(plain, last)
            assert self._ready(edited) == self._ready(plain) == READY
            assert self._foreign(edited) == self._foreign(plain)
            assert self._managed(edited) == self._managed(plain)

        check()
        self._rests()

    def a_bad_edit_is_undone_by_the_one_before(self, profile: Profile) -> None:
        """At once, and to the same account or group."""

        @profile
        @given(good=self._subject.good, bad=self._subject.bad)
        def check(good: Spec, bad: Spec) -> None:
            name = f"undone{next(self._numbers):04}"
            self._apply(name, good)
            before = self._told(name)
            self._apply(name, bad)
            reason = self._ready(name)[1]
            if self._subject.refusals[reason]:
                assert self._told(name) == before
            self._apply(name, good)
            assert self._ready(name) == READY
            assert self._told(name) == before

        check()

    def _apply(self, name: str, spec: Spec) -> None:
        self.steps += 1
        self._subject.apply(self._bed, name, spec)
        self._bed.settle()

    def _ready(self, name: str) -> tuple[str, str]:
        return self._bed.ready(self._subject.kind, name)

    def _managed(self, name: str) -> Any:
        return self._bed.get(self._subject.kind, name)["status"]["managed"]

    def _told(self, name: str) -> dict[str, Any]:
        return self._subject.told(self._bed, name)

    def _foreign(self, name: str) -> dict[str, Any]:
        return {k: v for k, v in self._told(name).items() if k not in self._subject.own}

    def _rests(self) -> None:
        self._bed.clear_logs()
        self._bed.start()
        resync(self._bed, 2)
        assert self._bed.mutations() == []
