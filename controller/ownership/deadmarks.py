"""Marks in lldap of objects that are gone and whose accounts nothing took over."""

from collections.abc import Iterator

from controller.api import LLDAP_GROUP, LLDAP_USER, Kind
from controller.instance import Instance
from controller.ownership.mark import Mark, mark_of


def count_dead_marks(instance: Instance) -> int:
    """How many users and groups bear the mark of an object that the informers do not have.

    By what the informers know: for a metric. Nothing in lldap is changed on this word. Any thread.
    """
    return sum(1 for kind, mark in _marks(instance) if instance.ownership.seems_dead(kind, mark))


def _marks(instance: Instance) -> Iterator[tuple[Kind, Mark]]:
    if not instance.mirror.loaded:
        return
    for kind, targets in (
        (LLDAP_USER, instance.mirror.users()),
        (LLDAP_GROUP, instance.mirror.groups()),
    ):
        for target in targets:
            mark = mark_of(target.attributes)
            if isinstance(mark, Mark):
                yield kind, mark
