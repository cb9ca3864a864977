"""Custom attributes: which values an object wants, which it may set now, what to change."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from controller.api import (
    GROUP_BUILT_IN,
    MARK_ATTRIBUTE,
    USER_BUILT_IN,
    Attributes,
    Target,
)
from controller.harness.conditions import ready_of
from controller.harness.reasoned import fail
from controller.harness.reasons import Reason
from controller.harness.resource import Resource
from controller.reconcilers.schemashape import declares, lldap_target
from controller.watching.cache import Cache
from lldap import Attributes as LiveAttributes
from lldap import AttributeSchema, InvalidValue, Mirror, Schema
from lldap.values import equal, parse

_NEVER_SET: Final = (USER_BUILT_IN | GROUP_BUILT_IN | {MARK_ATTRIBUTE}) - {"avatar"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """The attributes of a spec: those to have, those declared empty, those that must wait.

    `schemas`: what the values were read by, since the mirror's may change during a pass.
    `standing`: in words, the LldapAttributeSchemas of those that must wait, which are not Ready.
    """

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cleared: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()
    schemas: Mapping[str, AttributeSchema] = field(default_factory=dict)
    standing: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """What the object owns once this is applied."""
        return self.cleared.union(self.values)

    def changes(
        self, live: LiveAttributes, managed: frozenset[str]
    ) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
        """What to insert and what to remove, so that `live` has what is wanted.

        Removed is what the object set before (`managed`) and no longer declares; what others
        set stays.
        """
        insert = {
            name: texts
            for name, texts in self.values.items()
            if name not in live or not _same(self.schemas[name], texts, live[name])
        }
        # `managed` is read from a status: what no spec can set was never this object's.
        dropped = self.cleared | managed.difference(self.values, self.missing, _NEVER_SET)
        return insert, tuple(sorted(name for name in dropped if name in live))

    def refuse_missing(self, words: str) -> None:
        """Raise DependencyNotReady if an attribute has to wait for its schema."""
        if self.missing:
            raise fail(
                Reason.DEPENDENCY_NOT_READY,
                f"{words} waits for an LldapAttributeSchema that is Ready for: "
                f"{', '.join(self.missing)}. {self._next_step()}",
            )

    def _next_step(self) -> str:
        if not self.standing:
            return "Create it for the same instance"
        more = len(self.standing) < len(self.missing)
        others = "; create those of the others for the same instance" if more else ""
        return f"There is {', '.join(self.standing)}: see what its message asks for{others}"


_NOTHING = Wanted()


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
            return _NOTHING
        values: dict[str, tuple[str, ...]] = {}
        schemas: dict[str, AttributeSchema] = {}
        cleared: set[str] = set()
        missing: list[str] = []
        standing: list[str] = []
        for name, texts in attributes.items():
            schema = self._usable(target, name)
            if schema is None:
                missing.append(name)
                standing += self._not_ready(target, name)
            elif _is_empty(schema, texts):
                cleared.add(name)
            else:
                values[name], schemas[name] = texts, schema
        return Wanted(values, frozenset(cleared), tuple(missing), schemas, tuple(standing))

    def _not_ready(self, target: Target, name: str) -> list[str]:
        """The first object that declares the attribute, and its reason."""
        found = sorted(self._cache.schemas(target, name), key=lambda each: each.key)
        return [f"LldapAttributeSchema {each.key} ({_reason(each)})" for each in found[:1]]

    def _usable(self, target: Target, name: str) -> AttributeSchema | None:
        live = self._mirror.attribute(lldap_target(target), name)
        if live is None or live.is_hardcoded or not self._required:
            return live
        declared = (declares(each, live) for each in self._cache.schemas(target, name))
        return live if any(declared) else None

    def learn(self, target: Target, schema: Schema) -> None:
        """Have the mirror know the attributes that lldap has now."""
        where = lldap_target(target)
        live = schema.of(where)
        for name in self._mirror.schema().of(where).keys() - live.keys():
            self._mirror.drop_attribute(where, name)
        for attribute in live.values():
            self._mirror.put_attribute(where, attribute)


def _reason(schema: Resource) -> str:
    ready = ready_of(schema.status)
    return "not in lldap yet" if ready.get("status") != "False" else str(ready.get("reason"))


def _is_empty(schema: AttributeSchema, texts: tuple[str, ...]) -> bool:
    """Whether the values mean "no value"; lldap's own refusals are found out here."""
    try:
        return parse(schema, texts) is None
    except InvalidValue as error:
        raise fail(  # the attribute and what is wrong with its value; never the value
            Reason.INVALID_VALUE,
            f"attribute {error.attribute}: {error.reason}. Correct it in spec.attributes",
        ) from error


def _same(schema: AttributeSchema, wanted: tuple[str, ...], live: tuple[str, ...]) -> bool:
    return wanted == live or equal(schema, wanted, live)


def words_of(insert: Mapping[str, object], remove: tuple[str, ...]) -> Iterator[str]:
    """The changes in words, without values."""
    if insert:
        yield f"set attributes {', '.join(insert)}"
    if remove:
        yield f"remove attributes {', '.join(remove)}"
