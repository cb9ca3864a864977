"""The store: one counter, a bounded history, and what is left after a restart."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.apiserver import store as module
from sandbox.apiserver.objects import Object
from sandbox.apiserver.store import Store, TooOldError
from tests.sandbox.apiserver_client import USERS, Client, user


def named(name: str, value: int = 0) -> Object:
    return {"metadata": {"name": name}, "value": value}


def test_a_write_that_another_overtook_does_nothing() -> None:
    store = Store()
    first = store.write("kind", "a", None, named("a"))
    assert store.write("kind", "a", None, named("a")) is None
    assert store.write("kind", "a", first, named("a", 1)) is not None
    assert store.write("kind", "a", first, named("a", 2)) is None
    assert store.revision == 2


def test_listeners_hear_of_writes_until_they_are_forgotten() -> None:
    store = Store()
    heard: list[int] = []
    forget = store.on_change(lambda: heard.append(store.revision))
    store.write("kind", "a", None, named("a"))
    forget()
    store.write("kind", "b", None, named("b"))
    assert heard == [1]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["put", "delete"])), max_size=30),
    st.integers(0, 30),
)
def test_every_earlier_state_can_be_had(steps: list[tuple[str, str]], asked: int) -> None:
    store = Store()
    states: dict[int, dict[str, int]] = {0: {}}
    state: dict[str, int] = {}
    for number, (name, step) in enumerate(steps):
        old = store.get("kind", name)
        if step == "put":
            store.write("kind", name, old, named(name, number))
            state[name] = number
        elif old is not None:
            store.write("kind", name, old, None)
            del state[name]
        states[store.revision] = dict(state)
    revision = min(asked, store.revision)
    objects, told = store.snapshot("kind", revision)
    assert told == revision
    assert {obj["metadata"]["name"]: obj["value"] for obj in objects} == states[revision]


@given(st.lists(st.sampled_from("abc"), max_size=20), st.integers(0, 20))
def test_changes_since_a_snapshot_lead_to_now(names: list[str], since: int) -> None:
    store = Store()
    for number, name in enumerate(names):
        store.write("kind", name, store.get("kind", name), named(name, number))
    revision = min(since, store.revision)
    objects, _ = store.snapshot("kind", revision)
    state = {obj["metadata"]["name"]: obj for obj in objects}
    changes, _ = store.changes("kind", revision)
    for change in changes:
        assert change.new is not None
        state[change.key] = change.new
    assert [state[key] for key in sorted(state)] == store.snapshot("kind")[0]


def test_the_history_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HISTORY", 5)
    store = Store()
    for number in range(12):
        store.write("kind", "a", store.get("kind", "a"), named("a", number))
    assert len(store.changes("kind", 6)[0]) == 6
    with pytest.raises(TooOldError):
        store.changes("kind", 1)


def test_a_server_on_the_same_folder_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    client = Client(folder=tmp_path)
    client.install("crds")
    client.ok("POST", USERS, user("ann"))
    client.ok("POST", USERS, user("bob"))
    client.ok("DELETE", f"{USERS}/bob")
    before = client.ok("GET", f"{USERS}/ann")
    again = Client(folder=tmp_path)
    assert again.ok("GET", f"{USERS}/ann") == before
    assert again.refused(404, "GET", f"{USERS}/bob")
    assert again.server.store.revision >= client.server.store.revision
    stale = f"{USERS}?watch=1&resourceVersion={before['metadata']['resourceVersion']}"
    events = again.watch(stale)()
    assert events is not None
    assert events[0]["object"]["code"] == 410


def test_a_log_is_written_anew_without_what_was_overwritten(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for number in range(20):
        store.write("kind", "a", store.get("kind", "a"), named("a", number))
    log = tmp_path / "objects.jsonl"
    assert len(log.read_bytes().splitlines()) == 20
    again = Store(tmp_path)
    assert len(log.read_bytes().splitlines()) == 1
    assert again.revision == 20
    assert again.get("kind", "a") == store.get("kind", "a")
