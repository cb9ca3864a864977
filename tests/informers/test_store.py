"""Store and indexer: equal to a plain dictionary, whatever is done to them."""

import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers import Indexer, Lister, Object, Store, key_of, object_key
from tests.informers.scripted import obj


def labels(item: Object) -> list[str]:
    return list(item["metadata"].get("labels", ()))


def labelled(name: str, *found: str, namespace: str = "a") -> Object:
    item = obj(name, 1, namespace=namespace)
    item["metadata"]["labels"] = list(found)
    return item


def test_keys_are_namespace_and_name_or_the_name_alone() -> None:
    assert key_of(obj("x", 1)) == object_key("a", "x") == "a/x"
    assert (
        key_of(obj("x", 1, namespace=None)) == object_key(None, "x") == object_key("", "x") == "x"
    )


def test_a_store_gives_back_what_was_put_in_and_not_a_copy() -> None:
    store = Store()
    item = obj("x", 1)
    store.set("a/x", item)
    assert store.get("a/x") is item
    assert store.list() == [item]
    assert store.keys() == ["a/x"]
    assert len(store) == 1
    store.delete("a/x")
    store.delete("a/x")
    assert store.get("a/x") is None
    assert not store.list()


def test_replacing_the_keys_of_a_prefix_leaves_the_others() -> None:
    store = Indexer({"label": labels})
    one, two, three = labelled("x", "l"), labelled("y", "l", namespace="b"), labelled("z", "l")
    store.replace({"a/x": one, "b/y": two})
    store.replace({"a/z": three}, "a/")
    assert sorted(store.keys()) == ["a/z", "b/y"]
    assert sorted(store.keys_by_index("label", "l")) == ["a/z", "b/y"]
    assert store.snapshot("a/") == {"a/z": three}


def test_a_namespace_whose_name_begins_like_another_s_is_another() -> None:
    store = Store()
    store.replace({"team/x": obj("x", 1), "team-b/x": obj("x", 1)})
    assert list(store.snapshot("team/")) == ["team/x"]


def test_an_index_follows_the_objects() -> None:
    store = Indexer({"label": labels})
    store.set("a/x", labelled("x", "one", "two", "one"))
    store.set("a/y", labelled("y", "two"))
    assert store.keys_by_index("label", "one") == ["a/x"]
    assert sorted(store.keys_by_index("label", "two")) == ["a/x", "a/y"]
    store.set("a/x", labelled("x", "three"))
    assert store.by_index("label", "one") == []
    assert store.by_index("label", "two") == [store.get("a/y")]
    store.delete("a/y")
    assert store.by_index("label", "two") == []
    assert store.by_index("label", "three") == [store.get("a/x")]


def test_an_index_that_does_not_exist_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        Indexer().by_index("x", "y")


def test_a_lister_reads_the_store() -> None:
    store = Indexer({"label": labels})
    lister = Lister(store)
    x, y = labelled("x", "l"), labelled("y", namespace="b")
    store.replace({"a/x": x, "b/y": y, "node": obj("node", 1, namespace=None)})
    assert lister.get("a", "x") is x
    assert lister.get("b", "x") is None
    assert lister.get(None, "node") is not None
    assert lister.list("b") == [y]
    assert len(lister.list()) == 3
    assert lister.by_index("label", "l") == [x]
    assert list(lister.index_values("label")) == ["l"]


names = st.sampled_from(["x", "y", "z"])
values = st.sets(st.sampled_from(["p", "q"]))
changes = st.lists(
    st.tuples(st.just("set"), names, values)
    | st.tuples(st.just("delete"), names, st.just(set[str]()))
    | st.tuples(st.just("replace"), st.just(""), st.dictionaries(names, values)),
    max_size=20,
)


@given(changes)
def test_the_indexes_are_those_of_the_objects_after_any_changes(
    done: list[tuple[str, str, object]],
) -> None:
    store = Indexer({"label": labels})
    expected: dict[str, Object] = {}
    for what, name, value in done:
        if what == "set":
            assert isinstance(value, set)
            expected[f"a/{name}"] = labelled(name, *value)
            store.set(f"a/{name}", expected[f"a/{name}"])
        elif what == "delete":
            expected.pop(f"a/{name}", None)
            store.delete(f"a/{name}")
        else:
            assert isinstance(value, dict)
            expected = {f"a/{n}": labelled(n, *v) for n, v in value.items()}
            store.replace(expected)
        assert store.snapshot() == expected
        for label in ("p", "q"):
            keys = {key for key, item in expected.items() if label in labels(item)}
            assert set(store.keys_by_index("label", label)) == keys
            assert (label in store.index_values("label")) == bool(keys)
            assert {key_of(item) for item in store.by_index("label", label)} == keys


def test_readers_see_a_replacement_whole_or_not_at_all() -> None:
    store = Indexer({"label": labels})
    states = [{f"a/{s}{i}": labelled(f"{s}{i}", s) for i in range(50)} for s in ("p", "q")]
    store.replace(states[0])
    stop = threading.Event()
    torn: list[object] = []

    def read() -> None:
        while not stop.is_set():
            kinds = {labels(item)[0] for item in store.list()}
            if len(kinds) != 1 or len(store.by_index("label", "p")) not in {0, 50}:
                torn.append(kinds)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    reader = threading.Thread(target=read, name="reader")
    reader.start()
    try:
        for n in range(200):
            store.replace(states[n % 2])
    finally:
        stop.set()
        reader.join(10)
        sys.setswitchinterval(interval)
    assert not torn
