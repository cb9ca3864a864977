"""Schemas and values of a bootstrap folder."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.bootstrapfolder import Bootstrap

CANARY = "S3cr3t-CANARY"


@pytest.fixture
def folder(tmp_path: Path) -> Bootstrap:
    return Bootstrap(tmp_path)


# --- schemas ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("JPEG", "for JPEG write JPEG_PHOTO"),
        ("String", "is none of STRING, INTEGER, JPEG_PHOTO, DATE_TIME"),
        (None, "is none of"),
        (["STRING"], "is none of"),
    ],
)
def test_other_words_for_types_are_reported(folder: Bootstrap, word: Any, says: str) -> None:
    folder.schema("x", word)
    run = folder.run()
    assert run.of("LldapAttributeSchema") == {}
    assert says in run.left_out[0]


@pytest.mark.parametrize(("flag", "means"), [("true", True), ("false", False), (None, False)])
def test_flags_may_be_quoted_or_missing(folder: Bootstrap, flag: Any, means: bool) -> None:
    folder.schema("x", isList=flag)
    assert folder.run().spec("LldapAttributeSchema", "user-x")["isList"] is means


@pytest.mark.parametrize("flag", ["yes", 1, [], {}])
def test_other_flags_are_reported(folder: Bootstrap, flag: Any) -> None:
    folder.schema("x", isList=flag)
    assert "isList is neither true nor false" in folder.run().left_out[0]


@pytest.mark.parametrize("value", [{"name": "x"}, "x", 3])
def test_a_schema_file_that_is_no_list_is_reported(folder: Bootstrap, value: Any) -> None:
    folder.add("user-schemas", value)
    assert "it is not a list of objects" in folder.run().left_out[0]


@pytest.mark.parametrize("name", ["cost_center", "", "mail", "Uuid", "kubernetes-owner"])
def test_a_name_that_lldap_or_the_operator_does_not_take_is_reported(
    folder: Bootstrap, name: str
) -> None:
    folder.schema(name)
    run = folder.run()
    assert run.of("LldapAttributeSchema") == {}
    assert len(run.left_out) == 1


def test_one_name_of_two_types_on_users_and_groups_is_reported_on_both(folder: Bootstrap) -> None:
    folder.schema("x", "STRING")
    folder.schema("x", "INTEGER", "group-schemas")
    run = folder.run()
    assert run.of("LldapAttributeSchema") == {}
    assert len(run.left_out) == 2


# --- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "is_list", "value", "texts"),
    [
        ("STRING", False, "x", ["x"]),
        ("STRING", False, True, ["true"]),
        ("STRING", False, 1.50, ["1.5"]),
        ("STRING", False, "", [""]),
        ("STRING", True, [], []),
        ("STRING", True, ["a", 1, False], ["a", "1", "false"]),
        ("INTEGER", False, 12345678901234567, ["12345678901234567"]),
        ("DATE_TIME", False, "2024-01-01T00:00:00Z", ["2024-01-01T00:00:00Z"]),
    ],
)
def test_values_are_written_as_bootstrap_sh_sends_them(
    folder: Bootstrap, kind: str, is_list: bool, value: Any, texts: list[str]
) -> None:
    folder.schema("x", kind, isList=is_list)
    folder.user("alice", x=value)
    run = folder.run()
    assert run.left_out == []
    assert run.spec("LldapUser", "alice")["attributes"] == [{"name": "x", "value": texts}]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("INTEGER", f"{CANARY}"),
        ("INTEGER", 10**30),
        ("DATE_TIME", CANARY),
        ("JPEG_PHOTO", CANARY),
        ("STRING", ["a", "b"]),
        ("STRING", {"a": CANARY}),
        ("STRING", ["a", None]),
    ],
)
def test_values_that_lldap_does_not_take_are_reported_and_not_repeated(
    folder: Bootstrap, kind: str, value: Any
) -> None:
    folder.schema("x", kind)
    folder.user("alice", x=value)
    run = folder.run()
    assert "attributes" not in run.spec("LldapUser", "alice")
    (line,) = run.left_out
    assert line.startswith('not carried over: attribute "x" of user "alice": it ')
    assert "correct it in" in line
    assert CANARY not in run.said


def test_a_name_in_two_letter_cases_is_reported(folder: Bootstrap) -> None:
    folder.schema("x")
    folder.user("alice", x="1", X="2")
    run = folder.run()
    assert run.spec("LldapUser", "alice")["attributes"] == [{"name": "x", "value": ["1"]}]
    assert "it is there twice" in run.left_out[0]


def test_an_attribute_without_a_schema_is_noted_once(folder: Bootstrap) -> None:
    folder.user("alice", phone="1")
    folder.user("bob", phone="2")
    run = folder.run()
    assert run.left_out == []
    assert len(run.notes) == 1
    assert "waits for an LldapAttributeSchema" in run.notes[0]
