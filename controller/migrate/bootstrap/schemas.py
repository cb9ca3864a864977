"""Attributes that a bootstrap folder declares."""

from collections.abc import Iterable
from typing import Final

from controller.migrate.bootstrap.folder import Record
from controller.migrate.report import Report
from controller.migrate.text import quoted
from lldap import AttributeSchema, AttributeType, Target
from lldap.names import attribute_key

_TYPES: Final = ", ".join(each.value for each in AttributeType)
_FLAGS: Final = {"isList": "is_list", "isVisible": "is_visible", "isEditable": "is_editable"}
_YES_NO: Final = {True: True, False: False, "true": True, "false": False, None: False}


def schemas_of(
    records: Iterable[Record], target: Target, report: Report
) -> dict[str, AttributeSchema]:
    """The attributes, by their names as lldap keeps them; of two of one name the first counts."""
    found: dict[str, AttributeSchema] = {}
    for record in records:
        attribute = _schema(record, target, report)
        if attribute is None:
            continue
        first = found.setdefault(attribute.name, attribute)
        if first != attribute:
            report.left_out(
                f"{_words(attribute.name, target)} in {record.where}",
                "another file or entry declares it first and otherwise, and the first counts, as "
                "with bootstrap.sh: keep one",
            )
    return found


def _schema(record: Record, target: Target, report: Report) -> AttributeSchema | None:
    words = f"the attribute of {record.where}"
    name = record.text("name", words, report)
    if name is None:
        report.left_out(words, "it has no name: write one")
        return None
    words = _words(name, target)
    attribute_type = _type(record, words, report)
    flags = _flags(record, words, report)
    if attribute_type is None or flags is None:
        return None
    return AttributeSchema(attribute_key(name), attribute_type, **flags)


def _type(record: Record, words: str, report: Report) -> AttributeType | None:
    word = record.fields.get("attributeType")
    for each in AttributeType:
        if word == each.value:
            return each
    hint = " (for JPEG write JPEG_PHOTO)" if word == "JPEG" else ""
    why = f"its attributeType is none of {_TYPES}{hint}: correct it in {record.where}"
    report.left_out(words, why)
    return None


def _flags(record: Record, words: str, report: Report) -> dict[str, bool] | None:
    flags: dict[str, bool] = {}
    for name, python in _FLAGS.items():
        value = record.fields.get(name)
        if isinstance(value, (list, dict)) or value not in _YES_NO:
            report.left_out(words, f"{name} is neither true nor false: correct {record.where}")
            return None
        flags[python] = _YES_NO[value]
    return flags


def _words(name: str, target: Target) -> str:
    return f"attribute {quoted(name)} of {target.name.lower()}s"
