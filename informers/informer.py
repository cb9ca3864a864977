"""One cache of a kind, shared by all who want to know of its objects."""

import logging
import math
import random
from collections.abc import Callable, Mapping, Sequence

from informers.clock import Clock
from informers.errors import ApiFailure
from informers.events import Handler
from informers.indexer import Indexer, IndexFunc
from informers.listener import Registration
from informers.lister import Lister
from informers.listwatch import ListerWatcher
from informers.metrics import InformerMetrics, NoInformerMetrics
from informers.processor import Processor, Scope
from informers.reflector import Reflector
from informers.transform import Transform, drop_managed_fields


class SharedInformer:
    """Reflectors, the store that they fill, and the handlers that are told.

    Promises: the cached states of an object are some of its true states, in order; there is no
    order across objects. The store and its indexes change before any handler is told. A handler
    added late is told the whole cache first. An object that vanished unseen is told as one
    deletion with an unknown final state; a new uid under an old name as deletion and addition. An
    object that is listed again as it is known is not told. `relist_seconds`: see Reflector.

    Starts no thread: `reflectors` and `registrations` each have a `step()`, to be called in one
    thread each. All methods here: any thread. Once stopped, it does not start again.
    """

    def __init__(
        self,
        listwatch: ListerWatcher | Mapping[str, ListerWatcher],
        *,
        clock: Clock,
        random: random.Random,
        name: str,
        relist_seconds: float = math.inf,
        transform: Transform = drop_managed_fields,
        indexers: Mapping[str, IndexFunc] | None = None,
        metrics: InformerMetrics | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        """`listwatch`: one for all there is, or one for each namespace (see by_namespace)."""
        self.name = name
        self.store = Indexer(indexers)
        self.lister = Lister(self.store)
        scopes = listwatch if isinstance(listwatch, Mapping) else {"": listwatch}
        self._metrics: InformerMetrics = metrics or NoInformerMetrics()
        self._logger = logger or logging.getLogger("informers")
        self._processor = Processor(self.store, transform, scopes)
        self.reflectors = tuple(
            Reflector(
                source,
                Scope(self._processor, namespace),
                clock=clock,
                random=random,
                name=f"{name} in {namespace}" if namespace else name,
                relist_seconds=relist_seconds,
                metrics=self._metrics,
                logger=self._logger,
            )
            for namespace, source in scopes.items()
        )

    def __repr__(self) -> str:
        return f"<SharedInformer {self.name}, {len(self.store)} objects>"

    @property
    def registrations(self) -> tuple[Registration, ...]:
        """The handlers that were added."""
        return self._processor.registrations

    @property
    def last_error(self) -> ApiFailure | None:
        """The error of a reflector that has one."""
        errors = (reflector.last_error for reflector in self.reflectors)
        return next((error for error in errors if error is not None), None)

    @property
    def last_contact(self) -> float | None:
        """When (clock.monotonic) the server last spoke to the reflector that has waited longest.

        None until it has spoken to each of them.
        """
        contacts = [reflector.last_contact for reflector in self.reflectors]
        known = [contact for contact in contacts if contact is not None]
        return min(known) if len(known) == len(contacts) else None

    def has_synced(self) -> bool:
        """Whether the store has been filled by the first list of every reflector.

        That a handler has been told of it, only its registration's `has_synced` says.
        """
        return self._processor.has_synced()

    def add_handler(self, handler: Handler, *, name: str = "") -> Registration:
        """Tell `handler` the whole cache, then everything that happens. RuntimeError after stop."""
        registration = Registration(handler, name or self.name, self._metrics, self._logger)
        self._processor.add(registration)
        return registration

    def stop(self) -> None:
        """Stop all reflectors and tell nothing more."""
        for reflector in self.reflectors:
            reflector.stop()
        self._processor.stop()


def by_namespace(
    namespaces: Sequence[str] | None, listwatch: Callable[[str | None], ListerWatcher]
) -> ListerWatcher | dict[str, ListerWatcher]:
    """What a SharedInformer needs to see these namespaces, or with None all of them.

    `listwatch` makes the source for one namespace, or with None for all. Each namespace gets a
    reflector of its own: none can drop what another has listed. ValueError for no namespace.
    """
    if namespaces is None:
        return listwatch(None)
    if not namespaces or not all(namespaces):
        raise ValueError("name the namespaces to watch, or None for all")
    return {namespace: listwatch(namespace) for namespace in namespaces}
