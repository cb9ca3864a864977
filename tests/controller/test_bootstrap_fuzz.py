"""Whatever stands in a bootstrap folder, nothing but declared errors comes out of it."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.api import AttributeSchemaSpec, GroupSpec, MembershipSpec, UserSpec
from controller.migrate.bootstrap.folder import PARTS
from controller.migrate.bootstrap.importer import BootstrapImport
from controller.migrate.bootstrap.jsonstream import NotJson, Number, values_in
from controller.migrate.bootstrap.values import STANDARD
from lldap import Target
from tests.support.migration import PLACE, Run

PARSERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "LldapUser": UserSpec.parse,
    "LldapGroup": GroupSpec.parse,
    "LldapMembership": MembershipSpec.parse,
    "LldapAttributeSchema": AttributeSchemaSpec.parse,
}
KEYS = [
    *STANDARD[Target.USER],
    *("avatar", "name", "attributeType", "isList", "isVisible", "isEditable", "mail", "x", "X"),
]
WORDS = ["alice", "a@example.org", "devs", "lldap_admin", "STRING", "INTEGER", "true", "", "\0"]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(WORDS),
)
json_values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text(max_size=5)), inner, max_size=8),
    ),
    max_leaves=20,
)
records = st.dictionaries(st.sampled_from(KEYS), json_values, max_size=12)
files = st.lists(
    st.tuples(st.sampled_from(PARTS), st.one_of(json_values, records, st.lists(records))),
    max_size=6,
)


def imported(files: list[tuple[str, bytes]]) -> Run:
    with TemporaryDirectory() as name:
        path = Path(name)
        (path / PARTS[0]).mkdir()
        for number, (part, content) in enumerate(files):
            (path / part).mkdir(exist_ok=True)
            (path / part / f"{number}.json").write_bytes(content)
        run = Run()
        what = BootstrapImport(path, "admin", PLACE, passwords=True)
        run.manifests = what.run(run.report, run.progress)
        return run


@pytest.mark.slow
@settings(max_examples=60)
@given(files)
def test_every_manifest_of_any_json_is_one_that_the_api_takes(
    files: list[tuple[str, Any]],
) -> None:
    run = imported([(part, json.dumps(value).encode()) for part, value in files])
    seen = set()
    for body in yaml.safe_load_all(run.text):
        identity = (body["kind"], body["metadata"]["namespace"], body["metadata"]["name"])
        assert identity not in seen
        seen.add(identity)
        if body["kind"] in PARSERS:
            PARSERS[body["kind"]](body)


@given(st.lists(st.tuples(st.sampled_from(PARTS), st.binary(max_size=60)), max_size=3))
def test_any_bytes_are_reported_or_read(files: list[tuple[str, bytes]]) -> None:
    imported(files)


@pytest.mark.parametrize(
    "content",
    [
        b"\xff",
        b"{",
        b"[1,]",
        b"NaN",
        b"-Infinity",
        b'"\\ud800"',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"1 2 x",
        b"'single'",
        b"// no comments",
    ],
)
def test_what_is_no_json_says_where_and_quotes_nothing(content: bytes) -> None:
    with pytest.raises(NotJson) as caught:
        values_in(content)
    assert len(str(caught.value)) < 100


def test_numbers_keep_their_digits() -> None:
    digits = "9" * 5000
    assert values_in(f"{digits} 1.0 -0 1E400".encode()) == [digits, "1.0", "-0", "1E400"]
    assert all(isinstance(value, Number) for value in values_in(b"1 2.5"))


def test_blanks_alone_are_no_value() -> None:
    assert values_in(b"") == values_in(b" \n\t\r") == []
