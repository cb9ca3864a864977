"""The whole way from a socket to a handler, in the threads that a manager would run."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest

from informers import ListWatch, Object, RestClient, SharedInformer
from tests.informers.faketransport import line
from tests.informers.rawserver import CHUNKED, Certificate, Peer
from tests.informers.scripted import Recorder, obj
from tests.informers.sites import LONG, Site


class RealClock:
    @staticmethod
    def monotonic() -> float:
        return time.monotonic()


class Users:
    """Serves one kind: a list of two, then what `events` says, then silence."""

    def __init__(self, *events: bytes) -> None:
        self.events = events
        self.watched: list[str] = []

    def __call__(self, peer: Peer) -> None:
        while request := peer.receive():
            query = parse_qs(urlsplit(request[0].split()[1]).query)
            if "watch" not in query:
                items = [obj("a", 5, text="Žofie 王 😀"), obj("b", 6)]
                answer = {"kind": "UserList", "metadata": {"resourceVersion": "7"}, "items": items}
                peer.answer(orjson.dumps(answer))
                continue
            self.watched.append(query["resourceVersion"][0])
            peer.send(CHUNKED)
            for event in self.events:
                peer.chunk(event)
            peer.hang()


@contextmanager
def running(informer: SharedInformer) -> Iterator[list[threading.Thread]]:
    """Step the informer's parts in threads until the end of the block."""
    over = threading.Event()

    def loop(step: Callable[[], float]) -> None:
        while not over.is_set():
            over.wait(min(step(), 0.01))

    steps = [part.step for part in informer.reflectors]
    steps += [part.step for part in informer.registrations]
    threads = [threading.Thread(target=loop, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    try:
        yield threads
    finally:
        over.set()
        informer.stop()
        for thread in threads:
            thread.join(LONG)


def wait_for(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def informer_over(client: RestClient) -> tuple[SharedInformer, Recorder]:
    informer = SharedInformer(
        ListWatch(client, "/apis/x/users"),
        clock=RealClock(),
        random=random.Random(1),
        name="users",
    )
    recorder = Recorder()
    informer.add_handler(recorder)
    return informer, recorder


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_F04_an_idle_watch_is_stopped_at_once(tls: bool, certificate: Certificate) -> None:
    changed: Object = obj("a", 8)
    users = Users(line("MODIFIED", changed)[:20], line("MODIFIED", changed)[20:])
    with Site(users, certificate if tls else None) as transport:
        informer, recorder = informer_over(RestClient(transport, call_seconds=LONG))
        with running(informer) as threads:
            wait_for(lambda: len(recorder.told) == 3)
            assert recorder.told[2] == ("update", "a/a", "5", "8")
            assert informer.registrations[0].has_synced()
            started = time.monotonic()
            informer.stop()
            threads[0].join(0.5)  # its loop ends with the block; the step must end now
            wait_for(lambda: informer.reflectors[0].state.name == "STOPPED")
            assert time.monotonic() - started < 1.5
    assert users.watched == ["7"]


def test_F11_characters_arrive_as_they_were_sent() -> None:
    with Site(Users(), None) as transport:
        informer, recorder = informer_over(RestClient(transport, call_seconds=LONG))
        with running(informer):
            wait_for(lambda: len(recorder.told) == 2)
        found = informer.lister.get("a", "a")
    assert found is not None
    assert found["text"] == "Žofie 王 😀"


def test_a_dead_server_is_waited_for_and_found_again() -> None:
    site = Site(Users(), None)
    with site as transport:
        pass
    informer, _ = informer_over(RestClient(transport, call_seconds=LONG))
    assert informer.reflectors[0].step() >= 0.8
    assert "closed" in str(informer.last_error)
