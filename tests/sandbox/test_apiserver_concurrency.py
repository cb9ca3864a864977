"""Many threads at once: one wins where only one can, and nothing is lost where all can."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox.apiserver.messages import Response
from tests.sandbox.apiserver_client import APPLY, GROUP, JSON_PATCH, MERGE, USERS, Client, user

THREADS = 8
SECONDS = 30.0


@pytest.fixture
def client() -> Client:
    client = Client()
    client.install("crds")
    return client


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(THREADS) as pool:
        yield pool


def statuses(pool: ThreadPoolExecutor, call: Callable[[int], Response], count: int) -> Counter[int]:
    return Counter(answer.status for answer in pool.map(call, range(count), timeout=SECONDS))


def test_of_many_creations_one_succeeds(client: Client, pool: ThreadPoolExecutor) -> None:
    found = statuses(pool, lambda _: client.call("POST", USERS, user("ann")), 8)
    assert found == {201: 1, 409: 7}


def test_of_many_puts_of_one_version_one_succeeds(client: Client, pool: ThreadPoolExecutor) -> None:
    live = client.ok("POST", USERS, user("ann"))

    def put(number: int) -> Response:
        spec = {**live["spec"], "displayName": str(number)}
        return client.call("PUT", f"{USERS}/ann", {**live, "spec": spec})

    assert statuses(pool, put, 8) == {200: 1, 409: 7}


def test_of_many_tested_removals_one_succeeds(client: Client, pool: ThreadPoolExecutor) -> None:
    client.ok("POST", USERS, user("ann", displayName="A"))
    steps = [
        {"op": "test", "path": "/spec/displayName", "value": "A"},
        {"op": "remove", "path": "/spec/displayName"},
    ]

    def remove(_: int) -> Response:
        return client.call("PATCH", f"{USERS}/ann", steps, content_type=JSON_PATCH)

    assert statuses(pool, remove, 8) == {200: 1, 422: 7}


def test_merge_patches_without_a_version_all_succeed(
    client: Client, pool: ThreadPoolExecutor
) -> None:
    client.ok("POST", USERS, user("ann"))

    def annotate(number: int) -> Response:
        body = {"metadata": {"annotations": {f"a{number}": "x"}}}
        return client.call("PATCH", f"{USERS}/ann", body, content_type=MERGE)

    assert statuses(pool, annotate, 64) == {200: 64}
    assert len(client.ok("GET", f"{USERS}/ann")["metadata"]["annotations"]) == 64


def test_applies_of_many_managers_all_succeed(client: Client, pool: ThreadPoolExecutor) -> None:
    client.ok("POST", USERS, user("ann"))

    def apply(number: int) -> Response:
        condition = {
            "type": f"T{number}",
            "status": "True",
            "reason": "R",
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        body = {
            "apiVersion": f"{GROUP}/v1alpha1",
            "kind": "LldapUser",
            "metadata": {"name": "ann"},
            "status": {"conditions": [condition]},
        }
        path = f"{USERS}/ann/status?fieldManager=m{number}"
        return client.call("PATCH", path, body, content_type=APPLY)

    assert statuses(pool, apply, 32) == {200: 32}
    assert len(client.ok("GET", f"{USERS}/ann")["status"]["conditions"]) == 32


def test_of_many_deletions_one_succeeds(client: Client, pool: ThreadPoolExecutor) -> None:
    client.ok("POST", USERS, user("ann"))
    found = statuses(pool, lambda _: client.call("DELETE", f"{USERS}/ann"), 8)
    assert found == {200: 1, 404: 7}


@pytest.mark.slow
def test_ten_thousand_users_are_made_and_listed(client: Client) -> None:
    for number in range(10_000):
        client.ok("POST", USERS, user(f"user-{number}"))
    assert len(client.ok("GET", USERS)["items"]) == 10_000
