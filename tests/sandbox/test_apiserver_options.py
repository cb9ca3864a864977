"""Options of writes and deletions, as the real server takes them."""

import pytest

from sandbox.apiserver.objects import Value
from tests.sandbox.apiserver_client import USERS, Client, user


@pytest.fixture
def client() -> Client:
    client = Client()
    client.install("crds")
    client.ok("POST", USERS, user("ann"))
    return client


def left(client: Client) -> int:
    return len(client.ok("GET", USERS)["items"])


@pytest.mark.parametrize("path", [USERS, f"{USERS}/ann"])
@pytest.mark.parametrize(
    ("query", "body"), [("?dryRun=All", None), ("", {"dryRun": ["All"]})], ids=["query", "body"]
)
def test_a_dry_run_deletes_nothing(client: Client, path: str, query: str, body: Value) -> None:
    client.ok("DELETE", path + query, body)
    assert left(client) == 1


@pytest.mark.parametrize("path", [USERS, f"{USERS}/ann"])
def test_beside_a_body_the_query_of_a_deletion_says_nothing(client: Client, path: str) -> None:
    client.ok("DELETE", f"{path}?dryRun=All&propagationPolicy=Orphan", {"kind": "DeleteOptions"})
    assert left(client) == 0


@pytest.mark.parametrize(
    ("query", "body", "status"),
    [
        ("?dryRun=None", None, 422),
        ("", {"dryRun": ["None"]}, 422),
        ("", {"propagationPolicy": "Sideways"}, 422),
        ("", {"dryRun": "All"}, 400),
        ("", ["All"], 400),
    ],
)
def test_options_that_are_none_delete_nothing(
    client: Client, query: str, body: Value, status: int
) -> None:
    client.refused(status, "DELETE", f"{USERS}/ann{query}", body)
    assert left(client) == 1


def test_an_unknown_dry_run_writes_nothing(client: Client) -> None:
    said = client.refused(422, "POST", f"{USERS}?dryRun=Some", user("bob"))
    assert 'Unsupported value: ["Some"]: supported values: "All"' in said
    assert left(client) == 1
