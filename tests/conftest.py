"""What every test must leave behind: no thread, no socket."""

import gc
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

pytest_plugins = ["tests.support.skips", "tests.support.envtest", "tests.support.policies"]


def pytest_configure() -> None:
    """Programs that the tests start are to be interrupted, also by a suite in the background.

    A shell without job control lets what it starts with `&` ignore SIGINT, and its children too.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _open_sockets() -> set[str]:
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:
            continue
        if target.startswith("socket:"):
            found.add(target)
    return found


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fails a test that leaves a thread or a socket behind."""
    threads = set(threading.enumerate())
    sockets = _open_sockets()
    yield
    left = [t for t in threading.enumerate() if t not in threads]
    for thread in left:
        thread.join(5.0)
    left = [t for t in left if t.is_alive()]
    assert not left, f"threads left behind: {[t.name for t in left]}"
    if _open_sockets() - sockets:
        gc.collect()
        leaked = _open_sockets() - sockets
        assert not leaked, f"sockets left behind: {sorted(leaked)}"
