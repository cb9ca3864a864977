"""What could not be carried over, for the person at the terminal and for the exit code."""

from typing import TextIO

from controller.migrate.text import quoted


class Report:
    """Writes as it learns; quotes no value, and no password anyway. One thread."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.left_out_count = 0

    def left_out(self, what: str, why: str) -> None:
        """Something that is in the source is not in the manifests. `why` says what to do too."""
        self.left_out_count += 1
        self._line(f"not carried over: {what}: {why}")

    def note(self, text: str) -> None:
        """Something to know; nothing is missing."""
        self._line(f"note: {text}")

    def say(self, text: str) -> None:
        """What comes of it all."""
        self._line(text)

    def _line(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()


def user_words(user_id: str) -> str:
    """An account, named for people."""
    return f"user {quoted(user_id)}"


def group_words(name: str) -> str:
    """A group, named for people."""
    return f"group {quoted(name)}"


def counted(number: int, thing: str) -> str:
    """`3 groups`, `1 group`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
