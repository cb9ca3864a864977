"""The queries of lists and watches, and what counts as a list."""

import pytest

from informers import (
    ListWatch,
    UnexpectedAnswer,
)
from tests.informers.faketransport import FakeTransport, client, line


def test_a_list_asks_for_the_version_or_the_next_page_but_never_both() -> None:
    transport = FakeTransport(
        body=b'{"metadata": {"resourceVersion": "7", "continue": ""}, "items": []}'
    )
    source = ListWatch(client(transport), "/users", label_selector="a=b", field_selector="c=d")
    assert source.list("0", 500, "") == ([], "7", "")
    selectors = [("labelSelector", "a=b"), ("fieldSelector", "c=d")]
    assert transport.asked["query"] == [*selectors, ("limit", "500"), ("resourceVersion", "0")]
    source.list("0", 500, "token")
    assert transport.asked["query"] == [*selectors, ("limit", "500"), ("continue", "token")]
    source.list("", 0, "")
    assert transport.asked["query"] == selectors
    assert transport.asked["timeout"] == 65.0


def test_a_list_that_is_never_older_asks_for_the_latest_in_pages() -> None:
    transport = FakeTransport(body=b'{"metadata": {"resourceVersion": "7"}, "items": []}')
    source = ListWatch(client(transport), "/users", never_older=True)
    source.list("0", 500, "")
    assert transport.asked["query"] == [("limit", "500")]
    source.list("7", 0, "")
    assert transport.asked["query"] == [("resourceVersion", "7")]


def test_a_watch_asks_for_bookmarks_and_an_end() -> None:
    transport = FakeTransport(body=line("ADDED", {"a": 1}))
    stream = ListWatch(client(transport), "/users").watch("7", 300)
    assert stream.next() == ("ADDED", {"a": 1})
    assert transport.asked["query"] == [
        ("watch", "true"),
        ("resourceVersion", "7"),
        ("allowWatchBookmarks", "true"),
        ("timeoutSeconds", "300"),
    ]
    assert transport.asked["headers"] == {"Accept": "application/json"}
    assert (transport.asked["timeout"], transport.asked["read_timeout"]) == (10.0, 315.0)


def test_metadata_only_asks_for_a_list_and_for_single_objects() -> None:
    transport = FakeTransport(body=b'{"metadata": {}, "items": []}')
    source = ListWatch(client(transport), "/secrets", metadata_only=True)
    source.list("", 0, "")
    assert transport.asked["headers"]["Accept"] == (
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    )
    source.watch("7", 300)
    assert transport.asked["headers"]["Accept"] == (
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
    )


@pytest.mark.parametrize(
    ("body", "page"),
    [
        (b'{"kind": "XList", "metadata": {"resourceVersion": "7"}, "items": null}', ([], "7", "")),
        (b'{"metadata": {"resourceVersion": null, "continue": 3}, "items": [1]}', ([1], "", "")),
    ],
)
def test_lists_as_go_writes_them(body: bytes, page: object) -> None:
    assert ListWatch(client(FakeTransport(body=body)), "/users").list("", 0, "") == page


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"items": []}',
        b'{"metadata": {}, "items": {}}',
        b'{"kind": "XList", "metadata": {"resourceVersion": "7"}}',
        b'{"kind": "Table", "metadata": {"resourceVersion": "7"}, "rows": [], "items": null}',
    ],
)
def test_what_is_no_list_is_not_taken_for_an_empty_one(body: bytes) -> None:
    with pytest.raises(UnexpectedAnswer, match="GET /users: the answer is no list"):
        ListWatch(client(FakeTransport(body=body)), "/users").list("", 0, "")
