"""The queues of all kinds, as those see them who put keys in."""

import random
from collections.abc import Collection, Mapping

from controller.api import (
    KINDS,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
)
from controller.harness.gate import WorkKey
from controller.ownership.service import Service, service
from controller.watching.cache import Cache
from controller.watching.watching import PRIORITY_LISTED, PRIORITY_WAITED
from workqueue import RateLimitingQueue

NAMED_FIRST = (LLDAP_ATTRIBUTE_SCHEMA, LLDAP_GROUP, LLDAP_USER, LLDAP_MEMBERSHIP)
"""The kinds in the order in which they refer to each other: who comes before what it names waits.
"""

JITTER_SECONDS = 1.0  # what waited for lldap comes back within this time


class Queues:
    """Adds keys by kind. Any thread."""

    def __init__(self, queues: Mapping[str, RateLimitingQueue[str]], rng: random.Random) -> None:
        self._queues = queues
        self._random = rng

    def __getitem__(self, kind: str) -> RateLimitingQueue[str]:
        return self._queues[kind]

    def add(self, kind: str, key: str, priority: int) -> None:
        """See watching.Enqueue."""
        self._queues[kind].add(key, priority)

    def wake(self, kind: str, key: str, priority: int) -> None:
        """The same for who may wait for its turn already: it stays where it is then."""
        self._queues[kind].add(key, priority, overtake=False)

    def add_after(self, kind: str, key: str, seconds: float, priority: int) -> None:
        """The same in so many seconds, unless it comes before."""
        self._queues[kind].add_after(key, seconds, priority)

    def add_waiting(self, keys: Collection[WorkKey]) -> None:
        """What waited for lldap: all at one moment, so that what is named comes first.

        The moment is random: other operators have waited for the same lldap.
        """
        delay = self._random.uniform(0.0, JITTER_SECONDS)
        for kind, key in keys:
            self._queues[kind].add_after(key, delay, PRIORITY_WAITED)

    def add_all(self, cache: Cache, instance: str, but: Collection[WorkKey] = ()) -> None:
        """Every object of this instance, behind whatever a person changed.

        `but` those that come back by themselves: an add would take away their delay.
        """
        for kind in KINDS:
            queue = self._queues[kind.kind]
            for resource in cache.all(kind):
                key = resource.key
                foreign = service(resource, instance) is Service.FOREIGN
                if not foreign and (kind.kind, key) not in but:
                    queue.add(key, PRIORITY_LISTED)

    def shut_down(self) -> None:
        """Nothing is taken in any more."""
        for queue in self._queues.values():
            queue.shut_down()

    def idle(self) -> bool:
        """Whether nothing is queued, delayed or in work."""
        return all(queue.idle() for queue in self._queues.values())
