"""Large buffers go back to the system once they are freed."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from controller.memory import give_back_large_buffers

ROOT = Path(__file__).parents[2]
MIB = 2**20

# Large buffers come and go, as the texts of lists do, and something small stays behind each.
GROWTH = """
import os, sys
from pathlib import Path
from controller.memory import give_back_large_buffers

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

if sys.argv[1] == "told":
    assert give_back_large_buffers()
before, kept = resident(), []
for _ in range(8):
    large = bytearray(8 * 2**20)
    del large
    smaller = [bytearray(2**20) for _ in range(8)]
    kept.append(bytes(100_000))
    del smaller
print(resident() - before)
"""


def growth(how: str) -> int:
    """Bytes that a process keeps after that."""
    command = [sys.executable, "-c", GROWTH, how]
    return int(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library has no such limit")
def test_what_is_freed_of_large_buffers_is_not_kept() -> None:
    assert growth("told") < 2 * MIB < growth("not told")


def test_a_c_library_without_such_a_limit_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda _name: object())
    assert not give_back_large_buffers()
