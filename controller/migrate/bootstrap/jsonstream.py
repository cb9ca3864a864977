"""JSON values one after the other in a text, as jq reads them."""

import json
from typing import Final, NoReturn

_BLANKS: Final = " \t\r\n"
_DEEP: Final = "it is nested too deeply"


class Number(str):
    """A number as it is written: `1.0` stays that, and no digit of a long one is lost."""

    __slots__ = ()


class NotJson(Exception):  # noqa: N818 - it says what the text is
    """The text is no stream of JSON values; says where and why, and quotes none of it."""


def values_in(data: bytes) -> list[object]:
    """All values of the stream. Numbers are `Number`. Raises NotJson."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotJson(f"byte {error.start} is not UTF-8") from None
    values, end = [], _skip(text, 0)
    while end < len(text):
        value, end = _value(text, end)
        values.append(value)
        end = _skip(text, end)
    return values


def _value(text: str, begin: int) -> tuple[object, int]:
    try:
        value, end = _DECODER.raw_decode(text, begin)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise NotJson(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except UnicodeEncodeError:
        raise NotJson("half of a surrogate pair is no text") from None
    except RecursionError:
        raise NotJson(_DEEP) from None
    return value, end


def _skip(text: str, begin: int) -> int:
    while begin < len(text) and text[begin] in _BLANKS:
        begin += 1
    return begin


def _refuse(word: str) -> NoReturn:
    raise NotJson(f"{word} is no number of JSON")


_DECODER: Final = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=_refuse)
