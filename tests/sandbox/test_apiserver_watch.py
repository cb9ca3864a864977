"""Watches and pages: what is told, from where, and when it is too late."""

import orjson
import pytest

from sandbox.apiserver.listing import decode_token, encode_token
from sandbox.apiserver.objects import Object
from tests.sandbox.apiserver_client import CRDS, GROUP, KINDS, USERS, Client, user


@pytest.fixture
def client() -> Client:
    client = Client()
    client.install("crds")
    return client


def told(events: list[Object] | None) -> list[tuple[str, str]]:
    assert events is not None
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in events]


def version(client: Client) -> str:
    found: str = client.ok("GET", USERS)["metadata"]["resourceVersion"]
    return found


def test_a_watch_tells_what_comes_changes_and_goes(client: Client) -> None:
    read = client.watch(f"{USERS}?watch=1&resourceVersion={version(client)}")
    assert read() == []
    client.ok("POST", USERS, user("ann"))
    client.patch(f"{USERS}/ann", {"spec": {"displayName": "A"}})
    client.ok("DELETE", f"{USERS}/ann")
    assert told(read()) == [("ADDED", "ann"), ("MODIFIED", "ann"), ("DELETED", "ann")]


def test_a_deleted_event_has_the_last_state_and_the_version_of_the_deletion(client: Client) -> None:
    created = client.ok("POST", USERS, user("ann"))
    read = client.watch(f"{USERS}?watch=1&resourceVersion={version(client)}")
    client.ok("DELETE", f"{USERS}/ann")
    events = read()
    assert events is not None
    gone = events[0]["object"]
    assert gone["spec"] == created["spec"]
    assert int(gone["metadata"]["resourceVersion"]) > int(created["metadata"]["resourceVersion"])


def test_a_watch_of_one_namespace_does_not_see_another(client: Client) -> None:
    client.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
    read = client.watch(f"{USERS}?watch=1&resourceVersion={version(client)}")
    client.ok("POST", f"{KINDS}/namespaces/other/lldapusers", user("bob"))
    assert read() == []


def test_leaving_a_selection_is_a_deletion_and_entering_it_an_addition(client: Client) -> None:
    client.ok("POST", USERS, user("ann", labels={"team": "a"}))
    read = client.watch(f"{USERS}?watch=1&resourceVersion={version(client)}&labelSelector=team=a")
    client.patch(f"{USERS}/ann", {"metadata": {"labels": {"team": "b"}}})
    client.patch(f"{USERS}/ann", {"metadata": {"labels": {"team": "a"}}})
    events = read()
    assert told(events) == [("DELETED", "ann"), ("ADDED", "ann")]
    assert events is not None
    assert events[0]["object"]["metadata"]["labels"]["team"] == "a"


def test_a_watch_ends_when_its_time_is_up(client: Client) -> None:
    read = client.watch(f"{USERS}?watch=1&resourceVersion={version(client)}&timeoutSeconds=30")
    client.clock.advance(29)
    assert read() == []
    client.clock.advance(1)
    assert read() is None


def test_a_bookmark_comes_before_the_end_if_anything_happened(client: Client) -> None:
    query = f"watch=1&resourceVersion={version(client)}&timeoutSeconds=30&allowWatchBookmarks=1"
    read = client.watch(f"{USERS}?{query}")
    client.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
    client.clock.advance(28)
    events = read()
    assert told(events) == [("BOOKMARK", "")]
    assert events is not None
    assert events[0]["object"]["metadata"]["resourceVersion"] == version(client)


def test_initial_events_end_with_their_bookmark(client: Client) -> None:
    client.ok("POST", USERS, user("ann"))
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1"
    events = client.watch(f"{USERS}?{query}")()
    assert told(events) == [("ADDED", "ann"), ("BOOKMARK", "")]
    assert events is not None
    annotations = events[1]["object"]["metadata"]["annotations"]
    assert annotations == {"k8s.io/initial-events-end": "true"}


def test_a_watch_from_before_the_history_is_told_so_and_ends(client: Client) -> None:
    first = version(client)
    client.ok("POST", USERS, user("ann"))
    client.server.store.compact(f"lldapusers.{GROUP}")
    read = client.watch(f"{USERS}?watch=1&resourceVersion={first}")
    events = read()
    assert events is not None
    assert (events[0]["type"], events[0]["object"]["code"]) == ("ERROR", 410)
    assert read() is None


def test_a_changed_crd_ends_watches_and_makes_versions_too_old(client: Client) -> None:
    client.ok("POST", USERS, user("ann"))
    first = version(client)
    read = client.watch(f"{USERS}?watch=1&resourceVersion={first}")
    name = f"lldapusers.{GROUP}"
    schema = "schema"
    crd = client.ok("GET", f"{CRDS}/{name}")
    spec = crd["spec"]["versions"][0][schema]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["displayName"]["maxLength"] = 7
    client.ok("PUT", f"{CRDS}/{name}", crd)
    assert read() is None
    again = client.call("GET", f"{USERS}?watch=1&resourceVersion={first}")
    assert (again.status, again.headers["Retry-After"]) == (429, "1")
    client.clock.advance(1)
    events = client.watch(f"{USERS}?watch=1&resourceVersion={first}")()
    assert events is not None
    assert events[0]["object"]["reason"] == "Expired"
    assert "Too long" in client.refused(422, "POST", USERS, user("bob", displayName="12345678"))


def test_a_label_on_a_crd_ends_no_watch(client: Client) -> None:
    read = client.watch(f"{USERS}?watch=1&resourceVersion={version(client)}")
    client.patch(f"{CRDS}/lldapusers.{GROUP}", {"metadata": {"labels": {"a": "b"}}})
    assert read() == []


def test_a_closed_watch_tells_nothing_more(client: Client) -> None:
    answer = client.call("GET", f"{USERS}?watch=1&resourceVersion={version(client)}")
    assert answer.stream is not None
    answer.stream.close()
    client.ok("POST", USERS, user("ann"))
    assert answer.stream.read() == b""


def test_metadata_only_watches_hold_no_secret(client: Client) -> None:
    path = "/api/v1/namespaces/default/secrets"
    accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
    read = client.watch(f"{path}?watch=1", accept=accept)
    client.ok("POST", path, {"metadata": {"name": "s"}, "stringData": {"password": "hunter2"}})
    events = read()
    assert told(events) == [("ADDED", "s")]
    assert b"aHVudGVyMg" not in orjson.dumps(events)


def test_pages_show_one_state_though_objects_come_and_go(client: Client) -> None:
    for name in "abcd":
        client.ok("POST", USERS, user(name))
    page = client.ok("GET", f"{USERS}?limit=2")
    client.ok("DELETE", f"{USERS}/c")
    client.ok("POST", USERS, user("bb"))
    rest = client.ok("GET", f"{USERS}?limit=5&continue={page['metadata']['continue']}")
    names = [obj["metadata"]["name"] for obj in (*page["items"], *rest["items"])]
    assert names == list("abcd")
    assert rest["metadata"]["resourceVersion"] == page["metadata"]["resourceVersion"]


def test_an_expired_page_gives_a_token_for_the_rest(client: Client) -> None:
    for name in "abc":
        client.ok("POST", USERS, user(name))
    page = client.ok("GET", f"{USERS}?limit=1")
    client.ok("POST", USERS, user("d"))
    client.server.store.compact(f"lldapusers.{GROUP}")
    answer = client.call("GET", f"{USERS}?limit=5&continue={page['metadata']['continue']}")
    assert answer.status == 410
    token = orjson.loads(answer.body)["metadata"]["continue"]
    rest = client.ok("GET", f"{USERS}?continue={token}")
    assert [obj["metadata"]["name"] for obj in rest["items"]] == ["b", "c", "d"]


def test_a_token_says_where_it_was() -> None:
    assert decode_token(encode_token(442, "/team-a/l0")) == (442, "team-a/l0")
