"""Runs in copies of a process, so that what was prepared once is used many times."""

import gc
import os
import traceback
from collections.abc import Callable


def settled_memory() -> None:
    """Before the first child: what is there now is shared with all of them."""
    gc.collect()
    gc.freeze()


def in_child(work: Callable[[], str]) -> str:
    """What `work` says in a copy of this process; a traceback if it fails.

    Nothing that it does to this process's objects is left. The caller has one thread.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _tell(writing, work)
    os.close(writing)
    with open(reading, encoding="utf-8") as told:  # noqa: PTH123 - a descriptor, no path
        said = told.read()
    os.waitpid(child, 0)
    return said


def _tell(writing: int, work: Callable[[], str]) -> None:
    """Never returns: what the parent registered to be done at its end is the parent's."""
    try:
        said = work()
    except BaseException:  # noqa: BLE001 - the parent is told
        said = traceback.format_exc()
    with open(writing, "w", encoding="utf-8") as out:
        out.write(said)
    os._exit(0)
