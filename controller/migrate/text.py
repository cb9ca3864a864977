"""Manifests as YAML, and names as a terminal can show them."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

# Letters first, so that it is neither a number nor a date; what else YAML 1.1 reads as no text.
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9._/@+-]*", re.ASCII)
_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})

# What YAML takes for a line's end, a byte order mark or no character at all.
_UNPRINTABLE: Final = re.compile(
    r"[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029\ufeff]"
)

_INDENT: Final = "  "


def document(manifest: dict[str, Any], comment: str = "") -> str:
    """One YAML document, the keys in the order of `manifest`.

    Made here, since a general emitter wraps and quotes otherwise from one version to the next,
    and takes a second for a picture: the output has to diff well.
    """
    note = f"# {comment}\n" if comment else ""
    return f"---\n{note}" + "".join(f"{line}\n" for line in _mapping(manifest, ""))


def quoted(text: str) -> str:
    """`text` in quotes, on one line, nothing in it that could steer a terminal."""
    return _UNPRINTABLE.sub(_escaped, json.dumps(text, ensure_ascii=False))


def _mapping(value: dict[str, Any], indent: str) -> Iterator[str]:
    for key, item in value.items():
        yield from _entry(f"{indent}{key}:", item, indent + _INDENT)


def _entry(head: str, value: object, indent: str) -> Iterator[str]:
    match value:
        case dict() if value:
            yield head
            yield from _mapping(value, indent)
        case list() if value:
            yield head
            for item in value:
                yield from _item(item, indent)
        case _:
            yield f"{head} {_scalar(value)}"


def _item(value: object, indent: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{indent}- {_scalar(value)}"
        return
    first, *rest = _mapping(value, indent + _INDENT)
    yield f"{indent}- {first.removeprefix(indent + _INDENT)}"
    yield from rest


def _scalar(value: object) -> str:
    if not isinstance(value, str):
        return json.dumps(value)  # true, false, {} and []
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return quoted(value)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
