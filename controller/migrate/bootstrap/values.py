"""Values of custom attributes: the keys of an object that bootstrap.sh has no other use for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from controller.migrate.bootstrap.folder import Record
from controller.migrate.report import Report
from controller.migrate.text import quoted
from lldap import AttributeSchema, AttributeType, InvalidValue, Target
from lldap.names import attribute_key
from lldap.values import parse

AVATAR: Final = "avatar"
_AVATAR_SHAPE: Final = AttributeSchema(AVATAR, AttributeType.JPEG_PHOTO, is_hardcoded=True)

STANDARD: Final = {
    Target.GROUP: ("name",),
    Target.USER: (
        "id",
        "email",
        "password",
        "password_file",
        "displayName",
        "firstName",
        "lastName",
        "groups",
        "avatar_file",
        "avatar_url",
        "gravatar_avatar",
        "weserv_avatar",
    ),
}
# bootstrap.sh takes each key that is a part of this text for one of its own.
_TAKEN: Final = {
    target: ",".join(f'"{name}"' for name in names) for target, names in STANDARD.items()
}


@dataclass(slots=True)
class Values:
    """Reads the values of all users, or of all groups. One thread.

    `undeclared` are attributes that were met and are in no schema file.
    """

    target: Target
    schemas: Mapping[str, AttributeSchema]
    report: Report
    undeclared: set[str] = field(default_factory=set)
    _told: set[str] = field(default_factory=set)

    def of(self, record: Record, words: str) -> dict[str, tuple[str, ...]]:
        """The values by attribute; what is none is reported and left out."""
        found: dict[str, tuple[str, ...]] = {}
        for key, value in record.fields.items():
            if key in STANDARD[self.target] or value is None:
                continue
            name, texts = attribute_key(key), _texts(value)
            problem = self._problem(name, texts, name in found)
            if texts is None or problem:
                what = f"attribute {quoted(key)} of {words}"
                self.report.left_out(what, f"{problem}: correct it in {record.where}")
                continue
            found[name] = texts
            self._note(key, name)
        return found

    def _problem(self, name: str, texts: tuple[str, ...] | None, twice: bool) -> str:
        if texts is None:
            return "it is neither text, number, true or false nor a list of these"
        if twice:
            return "it is there twice, in two letter cases"
        schema = self._shape(name)
        try:
            _ = None if schema is None else parse(schema, texts)
        except InvalidValue as error:
            return f"it {error.reason}"
        return ""

    def _shape(self, name: str) -> AttributeSchema | None:
        if self.target is Target.USER and name == AVATAR:
            return _AVATAR_SHAPE
        return self.schemas.get(name)

    def _note(self, key: str, name: str) -> None:
        if self._shape(name) is None:
            self.undeclared.add(name)
        if key in _TAKEN[self.target] and key not in self._told:
            self._told.add(key)
            self.report.note(
                f"bootstrap.sh never set the attribute {quoted(key)} of {self.target.name.lower()}s"
                ", whose name it takes for one of its own; these manifests do"
            )


def _texts(value: object) -> tuple[str, ...] | None:
    """The values as bootstrap.sh sends them; None for what is no value."""
    texts = [_text(each) for each in (value if isinstance(value, list) else [value])]
    return None if None in texts else tuple(text for text in texts if text is not None)


def _text(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str) else None
