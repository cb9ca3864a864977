"""Whatever happens between server and reflector, the cache ends as the server's state.

Invariants, after any sequence of changes, dropped streams, compaction, restored backups, refused
calls and partial progress of the reflectors, once the server is well again:
- the store holds exactly the server's objects, at their versions, and indexes agree;
- the calls to each handler make a history: add, updates of the last state told, delete; one uid
  from an add to its delete; and its end is the server's state;
- nobody changed an object of the store.
"""

import random
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from informers import ConnectionFailed, GarbledStream, Object, StatusError, by_namespace, key_of
from informers.objects import same_identity
from tests.informers.cluster import Cluster, ClusterListWatch
from tests.informers.mutation import MutationDetector
from tests.informers.scripted import BROKEN, FORBIDDEN, MISSING, THROTTLED, Rig, error_event


class Historian:
    """A handler that notes each call which does not follow from those before."""

    def __init__(self) -> None:
        self.known: dict[str, Object] = {}
        self.wrong: list[str] = []

    def on_add(self, obj: Object, initial: bool) -> None:
        self._demand(key_of(obj) not in self.known, "an add of what is there")
        self.known[key_of(obj)] = obj

    def on_update(self, old: Object, new: Object) -> None:
        self._demand(self.known.get(key_of(new)) is old, "an update of another state")
        self._demand(same_identity(old, new), "an update to another uid")
        self._demand(old != new, "an update that changes nothing")
        self.known[key_of(new)] = new

    def on_delete(self, obj: Object, final_state_unknown: bool) -> None:
        old = self.known.pop(key_of(obj), None)
        self._demand(old is not None and same_identity(old, obj), "a deletion of another object")
        self._demand(not final_state_unknown or obj is old, "a state that was never told")

    def _demand(self, right: object, what: str) -> None:
        if not right:
            self.wrong.append(what)


ERRORS: list[StatusError] = [BROKEN, FORBIDDEN, MISSING, THROTTLED, StatusError(410, "Expired")]
ENDS = [None, ConnectionFailed("reset", sent=True), GarbledStream("garbage")]

namespaces = st.sampled_from(["a", "b"])
names = st.sampled_from(["x", "y", "z"])
Action = Callable[[Cluster, Rig], object]


def errored(cluster: Cluster) -> None:
    for stream in cluster.streams:
        stream.pending.append(error_event(410, "Expired"))


def repeated(cluster: Cluster) -> None:
    """The server says again what it has said: the last event of each stream twice."""
    for stream in cluster.streams:
        stream.pending.extend(stream.pending[-1:])


def late_handler(rig: Rig) -> None:
    if len(rig.informer.registrations) < 6:
        rig.informer.add_handler(Historian(), name="late")


actions: st.SearchStrategy[Action] = st.one_of(
    st.builds(lambda n, k: lambda c, r: c.put(n, k), namespaces, names),
    st.builds(lambda n, k: lambda c, r: c.put(n, k), namespaces, names),
    st.builds(lambda n, k: lambda c, r: c.remove(n, k), namespaces, names),
    st.builds(lambda n, k: lambda c, r: (c.remove(n, k), c.put(n, k)), namespaces, names),
    st.builds(lambda e: lambda c, r: c.drop_streams(e), st.sampled_from(ENDS)),
    st.builds(lambda e: lambda c, r: c.failures.append(e), st.sampled_from(ERRORS)),
    st.builds(lambda n: lambda c, r: setattr(c, "page_size", n), st.integers(1, 3)),
    st.just(lambda c, r: r.settle(seconds=60)),
    st.just(lambda c, r: r.settle()),
    st.just(lambda c, r: (c.drop_streams(), c.compact())),
    st.just(lambda c, r: c.compact()),
    st.just(lambda c, r: c.back_up()),
    st.just(lambda c, r: c.restore_backup()),
    st.just(lambda c, r: c.change_schema()),
    st.just(lambda c, r: errored(c)),
    st.just(lambda c, r: repeated(c)),
    st.just(lambda c, r: late_handler(r)),
    st.just(lambda c, r: r.deliver()),
    st.builds(lambda s: lambda c, r: r.clock.advance(s), st.floats(0, 60)),
    st.builds(
        lambda which, count: (
            lambda c, r: [
                r.informer.reflectors[which % len(r.informer.reflectors)].step()
                for _ in range(count)
            ]
        ),
        st.integers(0, 1),
        st.integers(1, 6),
    ),
)


def make_rig(cluster: Cluster, *, scoped: bool) -> Rig:
    source = by_namespace(
        ["a", "b"] if scoped else None, lambda namespace: ClusterListWatch(cluster, namespace)
    )
    return Rig(
        source,
        rng=random.Random(0),
        indexers={"uid": lambda item: [item["metadata"]["uid"]]},
    )


@settings(max_examples=500)
@given(st.lists(actions, max_size=40), st.booleans())
def test_the_cache_ends_as_the_server_s_state(done: list[Action], scoped: bool) -> None:
    cluster = Cluster()
    rig = make_rig(cluster, scoped=scoped)
    historian, detector = Historian(), MutationDetector()
    rig.informer.add_handler(historian, name="history")
    rig.informer.add_handler(detector)
    for act in done:
        act(cluster, rig)
    cluster.failures.clear()
    for _ in range(3):  # a watch that a restored backup has struck dumb is found out at its end
        rig.settle(seconds=700)
    rig.settle(seconds=120)
    rig.deliver()
    expected = cluster.now()
    assert rig.store.snapshot() == expected
    assert rig.last_error() is None
    for item in expected.values():
        assert rig.store.by_index("uid", item["metadata"]["uid"]) == [item]
    for registration in rig.informer.registrations:
        if registration.name in {"history", "late"}:
            handler = registration._handler
            assert isinstance(handler, Historian)
            assert handler.known == expected
            assert handler.wrong == []
        assert registration.has_synced()
    detector.check(rig.store)


def test_the_historian_can_find_fault() -> None:
    cluster = Cluster()
    rig = make_rig(cluster, scoped=False)
    historian = Historian()
    historian.known["a/x"] = {}
    rig.informer.add_handler(historian)
    cluster.put("a", "x")
    rig.settle()
    rig.deliver()
    assert historian.wrong == ["an add of what is there"]
