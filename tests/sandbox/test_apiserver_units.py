"""Parts of the API server by themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.apiserver import cel
from sandbox.apiserver.errors import StatusError
from sandbox.apiserver.fieldset import (
    compare,
    cut,
    field_set,
    from_fields_v1,
    merge,
    to_fields_v1,
)
from sandbox.apiserver.messages import Target
from sandbox.apiserver.negotiation import negotiate
from sandbox.apiserver.objects import Object, Value
from sandbox.apiserver.patch import PatchError, json_patch, merge_patch
from sandbox.apiserver.schema import compile_schema, go_pattern
from sandbox.apiserver.selectors import parse_labels
from sandbox.apiserver.table import human_duration, json_path

SCHEMA = compile_schema(
    {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "set": {
                "type": "array",
                "x-kubernetes-list-type": "set",
                "items": {"type": "string"},
            },
            "list": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
                },
            },
        },
    }
)


def _listed(values: dict[str, str]) -> list[Object]:
    return [{"name": name, "value": value} for name, value in values.items()]


WORDS = st.sampled_from(["x", "y", "z"])
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "a": WORDS,
        "map": st.dictionaries(WORDS, WORDS, min_size=1),
        "set": st.lists(WORDS, unique=True, min_size=1),
        "list": st.dictionaries(WORDS, WORDS, min_size=1).map(_listed),
    },
)


@given(OBJECTS)
def test_fields_survive_being_written_down(obj: Object) -> None:
    paths = frozenset(field_set(SCHEMA, obj))
    assert frozenset(from_fields_v1(to_fields_v1(paths))) == paths


@given(OBJECTS)
def test_an_object_does_not_differ_from_itself(obj: Object) -> None:
    difference = compare(SCHEMA, obj, dict(obj))
    assert not difference.added | difference.modified | difference.removed


@given(OBJECTS, OBJECTS)
def test_what_was_applied_is_there_after_the_merge(live: Object, applied: Object) -> None:
    merged = merge(SCHEMA, live, applied)
    difference = compare(SCHEMA, applied, merged)
    assert not difference.modified | difference.removed
    assert merge(SCHEMA, merged, applied) == merged


@given(OBJECTS, OBJECTS)
def test_cutting_what_was_added_leads_back(live: Object, applied: Object) -> None:
    merged = merge(SCHEMA, live, applied)
    added = compare(SCHEMA, live, merged).added
    left = cut(SCHEMA, merged, frozenset(added)) or {}
    assert not compare(SCHEMA, live, left).removed
    assert not compare(SCHEMA, live, left).added


def test_applied_items_keep_their_order_and_others_their_place() -> None:
    def listed(names: str) -> Object:
        return {"list": [{"name": name} for name in names]}

    merged = merge(SCHEMA, listed("axb"), listed("ba"))
    assert [item["name"] for item in merged["list"]] == ["b", "a", "x"]


@pytest.mark.parametrize("key", ["map", "set", "list"])
def test_null_applied_to_what_has_members_leaves_them(key: str) -> None:
    live = {"map": {"x": "1"}, "set": ["x"], "list": [{"name": "x"}]}
    assert merge(SCHEMA, live, {key: None}) == live


def test_an_item_that_is_in_a_set_twice_stays_twice_and_is_a_difference() -> None:
    live, once = {"set": ["x", "y", "x"]}, {"set": ["x", "y"]}
    assert compare(SCHEMA, once, live).modified == {("f:set", 'v:"x"')}
    assert merge(SCHEMA, live, {"set": ["y"]}) == live
    assert cut(SCHEMA, live, frozenset({("f:set", 'v:"y"')})) == {"set": ["x", "x"]}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda below: st.lists(below) | st.dictionaries(st.text(), below),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES), st.dictionaries(st.text(), VALUES))
def test_a_merge_patch_twice_is_a_merge_patch_once(target: Object, patch: Object) -> None:
    once = merge_patch(target, patch)
    assert merge_patch(once, patch) == once


@given(st.dictionaries(st.text(), VALUES), st.text(), VALUES)
def test_what_a_json_patch_adds_it_can_test_and_remove(
    target: Object, key: str, value: Value
) -> None:
    before = dict(target)
    before.pop(key, None)
    path = "/" + key.replace("~", "~0").replace("/", "~1")
    steps = [
        {"op": "add", "path": path, "value": value},
        {"op": "test", "path": path, "value": value},
        {"op": "remove", "path": path},
    ]
    assert json_patch(before, steps) == before


@pytest.mark.parametrize(
    "step",
    [
        {"op": "remove", "path": "/b"},
        {"op": "test", "path": "/a/0", "value": 2},
        {"op": "add", "path": "/a/3", "value": 1},
        {"op": "add", "path": "/a/-1", "value": 1},
        {"op": "replace", "path": "/a/1", "value": 1},
        {"op": "add", "path": "a", "value": 1},
        {"op": "move", "from": "/b", "path": "/c"},
        {"op": "frob", "path": "/a"},
        {"path": "/a"},
        "add",
    ],
)
def test_a_json_patch_that_does_not_fit_changes_nothing(step: Value) -> None:
    target = {"a": [1]}
    with pytest.raises(PatchError):
        json_patch(target, [{"op": "add", "path": "/x", "value": 1}, step])
    assert target == {"a": [1]}


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ("", True),
        ("a", True),
        ("!a", False),
        ("!b", True),
        ("a=1", True),
        ("a==1", True),
        ("a!=1", False),
        ("b!=1", True),
        ("a in (1, 2)", True),
        ("a notin (1,2)", False),
        ("b notin (1)", True),
        ("a>0", True),
        ("a<1", False),
        ("a=1,x/y=z", True),
        ("a=1,x/y=w", False),
        ("b=", False),
    ],
)
def test_label_selectors(selector: str, selected: bool) -> None:
    matches = parse_labels(selector)
    assert (matches is None or matches({"a": "1", "x/y": "z"})) == selected


@pytest.mark.parametrize("selector", ["a in b", "a in (b", "a,,b=", "a>x", "=a", "a ~ b"])
def test_a_label_selector_that_is_none_is_refused(selector: str) -> None:
    with pytest.raises(StatusError) as raised:
        parse_labels(selector)
    assert raised.value.code == 400


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "0s"),
        (119, "119s"),
        (140, "2m20s"),
        (180, "3m"),
        (599, "9m59s"),
        (790, "13m"),
        (10799, "179m"),
        (11100, "3h5m"),
        (30000, "8h"),
        (200000, "2d7h"),
        (28700000, "332d"),
        (100000000, "3y62d"),
        (400000000, "12y"),
    ],
)
def test_ages_are_shown_as_kubectl_shows_them(seconds: int, shown: str) -> None:
    assert human_duration(seconds) == shown


def test_a_printer_column_finds_a_condition() -> None:
    obj = {"status": {"conditions": [{"type": "A"}, {"type": "Ready", "reason": "R"}]}}
    assert json_path(obj, '.status.conditions[?(@.type=="Ready")].reason') == "R"
    assert json_path(obj, ".status.conditions[0].type") == "A"
    assert json_path(obj, ".status.conditions[9].type") is None
    assert json_path(obj, ".spec.nosuch.more") is None


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^a$", "a\n", False),
        (r"^\w+$", "\u00f6", False),
        (r"^[^@\s]+$", "a\u00a0b", True),
        (r"^[$]$", "$", True),
        (r"^\$$", "$", True),
        ("^[]$]+$", "]$", True),
    ],
)
def test_patterns_are_those_of_go(pattern: str, text: str, found: bool) -> None:
    assert (go_pattern(pattern).search(text) is not None) == found


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("object.?a.orValue('x')", 1),
        ("object.?b.orValue('x')", "x"),
        ("object.?m[?'k'].orValue('x')", "v"),
        ("object.?m[?'l'].orValue('x')", "x"),
        ("object.?b[?'l'].hasValue()", False),
        ("'.?b [?\\'l\\']' == '.?b [?\\'l\\']'", True),
        ("object.m.k.upperAscii().lowerAscii()", "v"),
        ("'\u00c4B'.lowerAscii()", "\u00c4b"),
        ("[1, 2].all(x, x > 0) && [1, 2].exists_one(x, x == 2)", True),
        ("has(object.m) && !has(object.b) && size(object.m) == 1", True),
        ("object.b == 1 || true", True),
    ],
)
def test_expressions(expression: str, value: Value) -> None:
    scope = cel.Scope({"object": {"a": 1, "m": {"k": "v"}}})
    assert cel.Expression(expression).evaluate(scope) == value


@pytest.mark.parametrize("expression", ["object.b", "object.a.c", "nosuch", "object.a + 'x'"])
def test_an_expression_that_fails_says_so(expression: str) -> None:
    with pytest.raises(cel.EvaluationError):
        cel.Expression(expression).evaluate(cel.Scope({"object": {"a": 1}}))


def test_an_expression_that_is_none_does_not_compile() -> None:
    with pytest.raises(ValueError, match="parse"):
        cel.Expression("a ==")


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/api/v1/namespaces", ("", "v1", "namespaces", "", "", "")),
        ("/api/v1/namespaces/a", ("", "v1", "namespaces", "", "a", "")),
        ("/api/v1/namespaces/a/finalize", ("", "v1", "namespaces", "", "a", "finalize")),
        ("/api/v1/namespaces/a/secrets", ("", "v1", "secrets", "a", "", "")),
        ("/apis/g/v1/namespaces/a/ks/n/status", ("g", "v1", "ks", "a", "n", "status")),
        ("/apis/g/v1/watch/namespaces/a/ks", ("g", "v1", "ks", "a", "", "")),
        ("/apis/g/v1/ks", ("g", "v1", "ks", "", "", "")),
    ],
)
def test_paths_mean_resources(path: str, meant: tuple[str, ...]) -> None:
    found = Target.parse(path)
    assert found is not None
    names = ("group", "version", "plural", "namespace", "name", "subresource")
    assert tuple(getattr(found, name) for name in names) == meant
    assert found.watch == ("/watch/" in path)


@pytest.mark.parametrize("path", ["/", "/api", "/apis/g", "/healthz", "/api/v1/a/b/c/d"])
def test_other_paths_mean_none(path: str) -> None:
    assert Target.parse(path) is None


@pytest.mark.parametrize(
    ("accept", "media_type", "shown_as"),
    [
        ("", "application/json", ""),
        ("*/*", "application/json", ""),
        ("application/vnd.kubernetes.protobuf,application/json", "application/json", ""),
        (
            "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
            "application/json",
            "Table",
        ),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,*/*", "application/json", ""),
        ("application/yaml", "application/yaml", ""),
    ],
)
def test_the_first_form_that_is_known_is_taken(accept: str, media_type: str, shown_as: str) -> None:
    form = negotiate(accept)
    assert (form.media_type, form.shown_as) == (media_type, shown_as)
