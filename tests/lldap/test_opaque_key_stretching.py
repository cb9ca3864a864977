"""Argon2 and its permits, and the key that is kept."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lldap.opaque import Argon2, KeptKey, key_stretching

WAIT = 10.0


class FakeArgon2id:
    """Stands in for the real one: holds its callers until they are let go."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running = 0
        self.most = 0
        self.full = threading.Event()
        self.go = threading.Event()

    def __call__(self, **_parameters: object) -> "FakeArgon2id":
        return self

    def derive(self, message: bytes) -> bytes:
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
            if self.running == 2:
                self.full.set()
        assert self.go.wait(WAIT)
        with self.lock:
            self.running -= 1
        return message


def test_no_more_run_at_a_time_than_there_are_permits(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, stretch = FakeArgon2id(), Argon2(permits=2)
    monkeypatch.setattr(key_stretching, "Argon2id", fake)

    with ThreadPoolExecutor(max_workers=6) as pool:
        futures = [pool.submit(stretch, bytes([number])) for number in range(6)]
        assert fake.full.wait(WAIT)
        fake.go.set()
        results = [future.result(WAIT) for future in futures]

    assert results == [bytes([number]) for number in range(6)]
    assert fake.most == 2


def test_a_permit_is_given_back_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    class OutOfMemory:
        def __init__(self, **_parameters: object) -> None:
            raise MemoryError

    stretch = Argon2(permits=1)
    with monkeypatch.context() as patch:
        patch.setattr(key_stretching, "Argon2id", OutOfMemory)
        with pytest.raises(MemoryError):
            stretch(b"message")

    assert len(stretch(b"message")) == 128


def test_only_what_was_stretched_last_is_kept() -> None:
    kept = KeptKey()
    assert kept.get(b"first") is None

    kept.put(b"first", b"key of the first")
    assert kept.get(b"first") == b"key of the first"
    assert kept.get(b"second") is None

    kept.put(b"second", b"key of the second")
    assert kept.get(b"first") is None
    assert kept.get(b"second") == b"key of the second"
