"""What happens while a pass waits for its locks."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from controller.harness.locks import Key, KeyedLocks
from tests.support.bed import Bed


class Waits:
    """Lets something happen in lldap, and in the mirror, while a pass waits for its locks."""

    def __init__(self, bed: Bed, action: Callable[[], None]) -> None:
        self.bed, self.action, self.locks = bed, action, list[tuple[Key, ...]]()

    @contextmanager
    def hold(
        self, locks: KeyedLocks, exclusive: Iterable[Key], shared: Iterable[Key]
    ) -> Iterator[None]:
        wanted = tuple(exclusive)
        if not self.locks:
            self.action()
            self.bed.operator.instance.refresh()
        self.locks.append(wanted)
        with _HOLD(locks, wanted, shared):
            yield


_HOLD = KeyedLocks.hold


def while_waiting(monkeypatch: pytest.MonkeyPatch, bed: Bed, action: Callable[[], None]) -> Waits:
    waits = Waits(bed, action)

    def hold(
        locks: KeyedLocks, exclusive: Iterable[Key], shared: Iterable[Key] = ()
    ) -> AbstractContextManager[None]:
        return waits.hold(locks, exclusive, shared)

    monkeypatch.setattr(KeyedLocks, "hold", hold)
    return waits
