"""Standard output of commands, whose reader may go away at any time, as `head -1` does."""

import os
import sys
from typing import TextIO


def say(line: str) -> None:
    """Write one line now. Without a reader it is lost, and the command goes on to its end."""
    try:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)


def flush() -> None:
    """What Python does when it ends, without its complaint that nobody reads."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)


def discard(stream: TextIO) -> None:
    """From now on all that is written to the stream goes nowhere."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, stream.fileno())
    finally:
        os.close(null)
