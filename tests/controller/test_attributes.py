"""Which attributes of a spec may be set now, by what the informers and the mirror have."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from controller.api import Target
from controller.harness.reasoned import ReasonedError
from controller.harness.resource import Resource
from controller.reconcilers.attributes import AttributeDependencies, Wanted
from lldap import AttributeSchema, AttributeType, Mirror, Schema
from lldap import Target as LldapTarget
from tests.support.clock import FakeClock

TEXT = AttributeSchema("text", AttributeType.STRING)
TEXTS = AttributeSchema("texts", AttributeType.STRING, is_list=True)
NUMBER = AttributeSchema("number", AttributeType.INTEGER)
AVATAR = AttributeSchema("avatar", AttributeType.JPEG_PHOTO, is_hardcoded=True)


class Declared:
    """Stands in for the cache: the schemas that objects declare."""

    def __init__(self, *specs: dict[str, Any]) -> None:
        self._specs = specs

    def schemas(self, target: str, name: str) -> list[Resource]:
        found = [s for s in self._specs if (s["target"], s["attributeName"]) == (target, name)]
        return [Resource({"metadata": {"name": name}, "spec": spec}) for spec in found]


def declared(name: str, kind: str = "String", **flags: bool) -> dict[str, Any]:
    return {"attributeName": name, "attributeType": kind, "target": "User", **flags}


def dependencies(
    live: Sequence[AttributeSchema], *specs: dict[str, Any], required: bool = True
) -> AttributeDependencies:
    mirror = Mirror("admin", lambda _: None, clock=FakeClock())
    for attribute in live:
        mirror.put_attribute(LldapTarget.USER, attribute)
    return AttributeDependencies(Declared(*specs), mirror, required=required)  # type: ignore[arg-type]


def test_an_attribute_counts_when_it_is_declared_and_there() -> None:
    found = dependencies([TEXT], declared("text")).wanted(Target.USER, {"text": ("a",)})
    assert found == Wanted({"text": ("a",)}, schemas={"text": TEXT})


@pytest.mark.parametrize(
    ("live", "specs"),
    [
        ([], [declared("text")]),
        ([TEXT], []),
        ([TEXT], [declared("text", "Integer")]),
        ([TEXT], [declared("text", isList=True)]),
        ([TEXT], [declared("text", isVisible=True)]),
        ([TEXT], [declared("text", isEditable=True)]),
        ([TEXT], [{**declared("text"), "target": "Group"}]),
        ([TEXT], [declared("text", "Nonsense")]),
    ],
)
def test_else_it_is_missing(live: list[AttributeSchema], specs: list[dict[str, Any]]) -> None:
    found = dependencies(live, *specs).wanted(Target.USER, {"text": ("a",)})
    assert replace(found, standing=()) == Wanted(missing=("text",))
    with pytest.raises(ReasonedError, match=r"user al waits for .* text"):
        found.refuse_missing("user al")


def test_one_of_several_declarations_is_enough() -> None:
    specs = [declared("text", "Integer"), declared("text", isList=False)]
    assert not dependencies([TEXT], *specs).wanted(Target.USER, {"text": ("a",)}).missing


def test_without_a_required_schema_being_there_is_enough() -> None:
    anywhere = dependencies([TEXT], required=False)
    assert not anywhere.wanted(Target.USER, {"text": ("a",)}).missing
    assert anywhere.wanted(Target.USER, {"other": ("a",)}).missing == ("other",)


def test_a_built_in_attribute_needs_no_declaration() -> None:
    found = dependencies([AVATAR]).wanted(Target.USER, {"avatar": ("",)})
    assert found == Wanted(cleared=frozenset({"avatar"}))


def test_an_empty_value_is_a_removal_and_an_empty_list_is_a_value() -> None:
    some = dependencies([TEXT, TEXTS], declared("text"), declared("texts", isList=True))
    found = some.wanted(Target.USER, {"text": ("",), "texts": ()})
    assert found.cleared == {"text"}
    assert found.values == {"texts": ()}
    assert found.names == {"text", "texts"}


def test_a_wrong_value_is_named_and_not_quoted() -> None:
    some = dependencies([NUMBER], declared("number", "Integer"))
    with pytest.raises(ReasonedError, match="attribute number: is not a whole number") as caught:
        some.wanted(Target.USER, {"number": ("canary",)})
    assert caught.value.reason == "InvalidValue"
    assert "canary" not in str(caught.value)


def test_values_are_read_by_the_schema_that_they_were_checked_by() -> None:
    """The attribute may go from the mirror during the pass."""
    wanted = Wanted({"number": ("007",)}, schemas={"number": NUMBER})
    assert wanted.changes({"number": ("7",)}, frozenset()) == ({}, ())
    assert wanted.changes({"number": ("8",)}, frozenset()) == ({"number": ("007",)}, ())
    assert wanted.changes({}, frozenset()) == ({"number": ("007",)}, ())


def test_what_others_set_is_not_in_the_changes() -> None:
    assert Wanted().changes({"theirs": ("a",)}, frozenset({"ours"})) == ({}, ())


def test_what_lldap_has_now_is_learned() -> None:
    some = dependencies([TEXT, NUMBER], required=False)
    some.learn(Target.USER, Schema(user={"text": TEXT, "texts": TEXTS}))
    values = {"text": ("a",), "texts": ("a",), "number": ("1",)}
    assert some.wanted(Target.USER, values).missing == ("number",)
