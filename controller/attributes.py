"""Custom attributes: which values an object wants, which it may set now, what to change."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from controller.api import Attributes, Target
from controller.cache import Cache
from controller.reasoned import ReasonedError, fail
from controller.reasons import Reason
from controller.schemashape import declared_shape, lldap_target
from lldap import Attributes as LiveAttributes
from lldap import AttributeSchema, InvalidValue, Mirror
from lldap.values import equal, parse


@dataclass(frozen=True, slots=True)
class Wanted:
    """The attributes of a spec: those to have, those declared empty, those that must wait."""

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cleared: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """What the object owns once this is applied."""
        return frozenset(self.values) | self.cleared

    def refuse_missing(self, words: str) -> None:
        """Raise DependencyNotReady if an attribute has to wait for its schema."""
        if self.missing:
            raise fail(
                Reason.DEPENDENCY_NOT_READY,
                f"{words} waits for an LldapAttributeSchema that is Ready for: "
                f"{', '.join(self.missing)}. Create it for the same instance",
            )


class AttributeDependencies:
    """Which custom attributes may be set. Any thread; calls nothing.

    With `required`, an attribute counts when an LldapAttributeSchema of this instance declares
    it and lldap has it in that shape; without, also when it was made by hand.
    """

    def __init__(self, cache: Cache, mirror: Mirror, *, required: bool) -> None:
        self._cache = cache
        self._mirror = mirror
        self._required = required

    def wanted(self, target: Target, attributes: Attributes) -> Wanted:
        """Sort a spec's attributes; raises ReasonedError InvalidValue before any call."""
        if not attributes:
            return Wanted()
        values: dict[str, tuple[str, ...]] = {}
        cleared: set[str] = set()
        missing: list[str] = []
        for name, texts in attributes.items():
            schema = self._usable(target, name)
            if schema is None:
                missing.append(name)
            elif self._empty(schema, texts):
                cleared.add(name)
            else:
                values[name] = texts
        return Wanted(values, frozenset(cleared), tuple(missing))

    def _empty(self, schema: AttributeSchema, texts: tuple[str, ...]) -> bool:
        """Whether the values mean "no value"; lldap's own refusals are found out here."""
        try:
            return parse(schema, texts) is None
        except InvalidValue as error:
            raise invalid_value(error) from error

    def _usable(self, target: Target, name: str) -> AttributeSchema | None:
        live = self._mirror.attribute(lldap_target(target), name)
        if live is None or live.is_hardcoded or not self._required:
            return live
        declared = (declared_shape(r) for r in self._cache.schemas(target, name))
        return live if any(shape == live for shape in declared) else None

    def changes(
        self, target: Target, wanted: Wanted, live: LiveAttributes, managed: frozenset[str]
    ) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
        """What to insert and what to remove, so that `live` has what is wanted.

        Removed is what this object set before and no longer declares; what others set stays.
        """
        schema = self._mirror.schema().of(lldap_target(target))
        insert = {
            name: texts
            for name, texts in wanted.values.items()
            if name not in live or not equal(schema[name], texts, live[name])
        }
        dropped = wanted.cleared | (managed - wanted.names - frozenset(wanted.missing))
        return insert, tuple(sorted(name for name in dropped if name in live and name in schema))


def invalid_value(error: InvalidValue) -> ReasonedError:
    """The attribute and what is wrong with its value; never the value."""
    return fail(
        Reason.INVALID_VALUE,
        f"attribute {error.attribute}: {error.reason}. Correct it in spec.attributes",
    )


def words_of(insert: Mapping[str, object], remove: tuple[str, ...]) -> Iterator[str]:
    """The changes in words, without values."""
    if insert:
        yield f"set attributes {', '.join(insert)}"
    if remove:
        yield f"remove attributes {', '.join(remove)}"
