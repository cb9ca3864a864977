"""Exchanges that opaque-ke 0.7.0 computed, with the randomness of both sides."""

import json
from pathlib import Path
from typing import NamedTuple

PATH = Path(__file__).parent.parent / "data" / "opaque-0.7.json"


class Vector(NamedTuple):
    """One password: its registration and one login."""

    username: str
    password: bytes
    server_setup: bytes
    registration: dict[str, bytes]
    login: dict[str, bytes]


def load_vectors() -> list[Vector]:
    """All recorded cases; the parts are named as in the file, without `_hex`."""
    return [
        Vector(
            case["username"],
            bytes.fromhex(case["password_hex"]),
            bytes.fromhex(case["server_setup_hex"]),
            _parts(case["registration"]),
            _parts(case["login"]),
        )
        for case in json.loads(PATH.read_text())["cases"]
    ]


def _parts(recorded: dict[str, str]) -> dict[str, bytes]:
    return {name.removesuffix("_hex"): bytes.fromhex(value) for name, value in recorded.items()}


class RecordedRandomness:
    """Gives the recorded bytes in their order; `left` are those that nobody drew."""

    def __init__(self, *parts: bytes) -> None:
        self.left = b"".join(parts)

    def __call__(self, count: int) -> bytes:
        assert len(self.left) >= count, "more randomness was drawn than the real crate draws"
        drawn, self.left = self.left[:count], self.left[count:]
        return drawn
