"""Names of objects made from names in lldap, and manifests as YAML text."""

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from controller.migrate.names import ObjectNames
from controller.migrate.text import document, quoted

SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")

lldap_names = st.one_of(
    st.text(max_size=128),
    st.from_regex(r"[A-Za-z0-9._ -]{0,128}", fullmatch=True),
    st.sampled_from(["a", "a-b", "a--b", "a.b", "a..b", "a_b", "-", ".", "ﬀ", "日本", "Ä"]),
)


def names_of(*names: str) -> dict[str, str]:
    return ObjectNames("group").give(names)


@given(st.sets(lldap_names, max_size=20))
def test_every_name_is_valid_and_no_two_are_the_same(names: set[str]) -> None:
    given_names = names_of(*names)
    assert given_names.keys() == names
    assert len(set(given_names.values())) == len(names)
    for name in given_names.values():
        assert SUBDOMAIN.fullmatch(name)
        assert len(name) <= 113


@given(st.sets(lldap_names, max_size=20), lldap_names)
def test_a_name_does_not_depend_on_what_else_there_is(names: set[str], one: str) -> None:
    assert names_of(*names, one)[one] == names_of(one)[one]


@pytest.mark.parametrize("name", ["alice", "alice.smith", "a-b", "0", "a--b"])
def test_a_valid_name_stays_what_it_is(name: str) -> None:
    assert names_of(name) == {name: name}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a_b", r"a-b-[0-9a-f]{8}"),
        ("jörg", r"jorg-[0-9a-f]{8}"),
        ("日本", r"group-[0-9a-f]{8}"),
        ("", r"group-[0-9a-f]{8}"),
        ("Straße & Co.", r"strasse-co-[0-9a-f]{8}"),
        ("a..b", r"a\.b-[0-9a-f]{8}"),
        ("x" * 128, r"x{80}-[0-9a-f]{8}"),
    ],
)
def test_any_other_is_what_is_left_of_it_and_a_digest(name: str, expected: str) -> None:
    assert re.fullmatch(expected, names_of(name)[name])


def test_names_given_today_stay_the_same_in_later_versions() -> None:
    assert names_of("a_b", "jörg", "日本") == {
        "a_b": "a-b-648fa9b3",
        "jörg": "jorg-12c433a0",
        "日本": "group-cf2abf0c",
    }


def test_a_name_made_to_look_like_a_digest_s_keeps_its_own_and_the_other_gives_way() -> None:
    forged = names_of("a_b")["a_b"]
    found = names_of("a_b", forged)
    assert found[forged] == forged
    assert re.fullmatch(r"a-b-[0-9a-f]{16}", found["a_b"])


def test_pairs_are_told_apart_where_a_name_has_the_separator_in_it() -> None:
    names = ObjectNames("membership")
    plain = names.give_pair("a", "b--c")
    other = names.give_pair("a--b", "c")
    assert plain == "a--b--c"
    assert re.fullmatch(r"a--b--c-[0-9a-f]{8}", other)


def test_the_longest_pair_fits_kubernetes_and_with_a_suffix_a_file_system() -> None:
    user = names_of("--" + "x" * 62)["--" + "x" * 62]
    group = names_of("y" * 128)["y" * 128]
    pair = ObjectNames("membership").give_pair("a--" + user, group)
    assert len(f"{pair}.yaml") <= 255
    assert len(pair) <= 253


# --- YAML ------------------------------------------------------------------------------------

scalars = st.one_of(
    st.text(),
    st.sampled_from(["yes", "No", "null", "1e3", "0x1", "12:30", "2024-01-01", "~", "- a", "a: b"]),
    st.booleans(),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.from_regex(r"[A-Za-z][A-Za-z./-]{3,9}", fullmatch=True), inner),
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["spec", "metadata", "data"]), values))
def test_yaml_is_read_back_as_what_was_written(manifest: dict[str, object]) -> None:
    flat = "".join(_strings(manifest))
    if _nested_list(manifest) or any(0xD800 <= ord(c) <= 0xDFFF for c in flat):
        return
    text = document(manifest)
    assert yaml.safe_load(text) == (manifest or None)
    assert yaml.load(text, yaml.CSafeLoader) == (manifest or None)


def _strings(value: object) -> list[str]:
    match value:
        case dict():
            return [text for each in value.values() for text in _strings(each)]
        case list():
            return [text for each in value for text in _strings(each)]
    return [value] if isinstance(value, str) else []


def _nested_list(value: object) -> bool:
    """No manifest has one."""
    match value:
        case dict():
            return any(_nested_list(each) for each in value.values())
        case list():
            return any(isinstance(each, list) or each == {} or _nested_list(each) for each in value)
    return False


@given(st.text())
def test_what_is_shown_to_people_is_one_line_that_steers_no_terminal(text: str) -> None:
    shown = quoted(text)
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", shown)


def test_a_picture_takes_no_time() -> None:
    text = document({"spec": {"value": "/9j/" * 200_000}})
    assert len(text.splitlines()) == 3


def test_a_comment_stands_before_the_object() -> None:
    assert document({"kind": "Secret"}, "Fill it in.") == "---\n# Fill it in.\nkind: Secret\n"
