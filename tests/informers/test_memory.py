"""What an object costs in memory, from the answer of the server to the last index."""

import gc
import random
import tracemalloc
import weakref
from typing import Any

import orjson
import pytest

from informers import ListPage, Object, Reflector, SharedInformer
from informers.listwatch import _page
from informers.reflector import State
from informers.transform import compacted
from tests.informers.scripted import Recorder, ScriptedListWatch
from tests.support.clock import FakeClock

COUNT = 5_000
BUDGET = 8 * 1024


def user(n: int) -> Object:
    fields: Object = {"f:spec": {"f:email": {}, "f:username": {}, "f:displayName": {}}}
    managed = {"manager": "kubectl", "operation": "Apply", "fieldsV1": fields}
    condition = {"type": "Ready", "status": "True", "reason": "Reconciled", "message": ""}
    return {
        "apiVersion": "example.org/v1",
        "kind": "User",
        "metadata": {
            "name": f"user-{n}",
            "namespace": f"team-{n % 20}",
            "uid": f"{n:08x}-4191-4061-967d-12dd1e5f13f0",
            "resourceVersion": str(n),
            "labels": {"example.org/instance": "default"},
            "managedFields": [managed],
        },
        "spec": {
            "username": f"user-{n}",
            "email": f"user-{n}@example.org",
            "displayName": f"User {n}",
            "attributes": [{"name": "department", "value": ["x" * 400]}],
        },
        "status": {"conditions": [condition], "uuid": f"{n:08x}"},
    }


class OneAnswer(ScriptedListWatch):
    """Parses its list when asked, as a real one does."""

    def __init__(self) -> None:
        super().__init__([])
        items = [user(n) for n in range(1, COUNT + 1)]
        self.body = orjson.dumps({"metadata": {"resourceVersion": "9"}, "items": items})

    def list(self, resource_version: str, limit: int, continue_token: str) -> ListPage:
        return _page(orjson.loads(self.body), "/users")


class Nothing(Recorder):
    def on_add(self, obj: Object, initial: bool) -> None:
        pass


@pytest.mark.slow
def test_an_object_of_a_kilobyte_stays_far_below_the_budget() -> None:
    source = OneAnswer()
    assert 900 < len(source.body) / COUNT < 1200
    gc.collect()
    tracemalloc.start()
    try:
        informer = SharedInformer(
            source,
            clock=FakeClock(),
            random=random.Random(1),
            name="users",
            indexers={
                "username": lambda o: [o["spec"]["username"]],
                "namespace": lambda o: [o["metadata"]["namespace"]],
            },
        )
        registration = informer.add_handler(Nothing())
        for _ in range(2):  # the second list replaces the first
            informer.reflectors[0]._list()
            while registration.step() == 0:
                pass
        gc.collect()
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(informer.store) == COUNT
    assert used / COUNT < BUDGET / 2


class Tracked(dict[str, Any]):
    """An object of a list, whose end can be seen."""


def test_what_a_list_stores_shares_nothing_with_what_was_parsed() -> None:
    parsed = user(1)
    kept = parsed["spec"], parsed["status"], parsed["metadata"]["labels"]
    informer = informer_of(ScriptedListWatch([ListPage([parsed], "9", "")]))
    informer.reflectors[0]._list()
    (stored,) = informer.lister.list()
    assert stored == {
        **user(1),
        "metadata": {k: v for k, v in user(1)["metadata"].items() if k != "managedFields"},
    }
    theirs = stored["spec"], stored["status"], stored["metadata"]["labels"]
    assert all(one is not other for one, other in zip(kept, theirs, strict=True))


def test_of_a_list_that_comes_again_only_what_changed_is_written_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[int] = []

    def counted(objects: list[Object]) -> list[Object]:
        written.append(len(objects))
        return compacted(objects)

    monkeypatch.setattr("informers.processor.compacted", counted)
    changed = user(2)
    changed["metadata"]["resourceVersion"] = "another"
    pages = [[user(1), user(2)], [user(1), user(2)], [user(1), changed]]
    informer = informer_of(ScriptedListWatch([ListPage(page, "9", "") for page in pages]))
    stored = []
    for _ in pages:
        informer.reflectors[0]._list()
        stored.append({obj["metadata"]["name"]: obj for obj in informer.lister.list()})
    assert written == [2, 0, 1]
    first, second = (user(n)["metadata"]["name"] for n in (1, 2))
    assert stored[0][first] is stored[1][first] is stored[2][first]
    assert stored[2][second]["metadata"]["resourceVersion"] == "another"


def test_nobody_holds_a_list_when_its_target_has_let_go_of_it() -> None:
    seen: list[object] = []

    class Target:
        def receive(self, objects: list[Object]) -> list[Object]:
            received = objects[:]
            objects.clear()
            return received

        def replace(self, objects: list[Object]) -> None:
            ends = [weakref.ref(obj) for obj in objects]
            objects.clear()
            seen.extend(end() for end in ends)

        def upsert(self, obj: Object) -> None: ...

        def delete(self, obj: Object) -> None: ...

    class Source(ScriptedListWatch):
        def list(self, resource_version: str, limit: int, continue_token: str) -> ListPage:
            return ListPage([Tracked(user(n)) for n in (1, 2)], "9", "")

    reflector = Reflector(Source([]), Target(), clock=FakeClock(), random=random.Random(1))
    reflector._list()
    assert seen == [None, None]


def test_a_list_is_emptied_once_it_is_stored() -> None:
    informer = informer_of(ScriptedListWatch([]))
    page = [user(1), user(2)]
    objects = informer._processor.receive(page)
    assert page == []
    informer._processor.replace("", objects)
    assert objects == []
    assert len(informer.store) == 2


def test_a_page_is_let_go_before_the_next_one_is_asked_for() -> None:
    """Of a list that comes again nothing is kept beside what is known: else all is there twice."""
    parsed: list[weakref.ref[Tracked]] = []
    left: list[int] = []

    class Source(ScriptedListWatch):
        def list(self, resource_version: str, limit: int, continue_token: str) -> ListPage:
            left.append(sum(end() is not None for end in parsed))
            number = int(continue_token or 0)
            page: list[Object] = [Tracked(user(number * 10 + each)) for each in range(10)]
            parsed.extend(weakref.ref(obj) for obj in page if isinstance(obj, Tracked))
            return ListPage(page, "9", str(number + 1) if number < 3 else "")

    informer = informer_of(Source([]))
    for _ in range(2):
        while informer.reflectors[0].state is State.LISTING:
            informer.reflectors[0].step()
        informer.reflectors[0].state = State.LISTING
        assert len(informer.lister.list()) == 40
    assert left == [0] * 8


def informer_of(source: ScriptedListWatch) -> SharedInformer:
    return SharedInformer(source, clock=FakeClock(), random=random.Random(1), name="users")
