"""What the package promises as a whole."""

import subprocess
import sys
from pathlib import Path

import pytest

import lldap
from lldap import documents
from lldap.graphql import Document
from tests.lldap.recordings import DATA

PACKAGE = Path(lldap.__file__).parent


def test_the_public_names_are_those_listed() -> None:
    public = {
        name
        for name, value in vars(lldap).items()
        if not name.startswith("_") and not hasattr(value, "__path__") and _is_ours(value)
    }
    assert public == set(lldap.__all__)
    assert list(lldap.__all__) == sorted(lldap.__all__)


def _is_ours(value: object) -> bool:
    module = getattr(value, "__module__", None)
    return value is lldap.Attributes or (module is not None and module.startswith("lldap."))


def test_every_error_is_public_and_an_lldap_error() -> None:
    from lldap import errors

    found = [value for value in vars(errors).values() if isinstance(value, type)]
    assert all(issubclass(error, lldap.LldapError) for error in found)
    assert {error.__name__ for error in found} <= set(lldap.__all__)


def test_the_tree_of_errors_in_the_docstring_is_the_real_one() -> None:
    from lldap import errors

    lines = (errors.__doc__ or "").splitlines()
    names = {line.strip("│├└─ ").split(" ")[0]: line for line in lines if "──" in line}
    for name, line in names.items():
        depth = line.index(name) // 4 - 1
        assert len(getattr(errors, name).__mro__) - len(lldap.LldapError.__mro__) == depth, name
    assert len(names) == sum(isinstance(value, type) for value in vars(errors).values()) - 1


def test_the_schema_module_is_what_the_generator_makes_of_the_introspection(tmp_path: Path) -> None:
    generated = tmp_path / "schema.py"
    command = [
        sys.executable,
        "-c",
        "from sgqlc.codegen import main; main()",
        "schema",
        str(DATA / "lldap-introspection.json"),
        str(generated),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert (PACKAGE / "schema.py").read_text() == generated.read_text()


def every_document() -> list[Document]:
    fixed = [value for value in vars(documents).values() if isinstance(value, Document)]
    several = documents.directory(["page0", "page1", "rest"])
    alone = documents.directory(["rest"], users_alone=True)
    return [*fixed, documents.directory(["rest"]), several, alone]


@pytest.mark.parametrize("document", every_document(), ids=lambda document: document.text[:40])
def test_C07_every_document_is_one_that_the_server_takes(document: Document) -> None:
    from graphql import build_client_schema, parse, validate
    from orjson import loads

    introspection = loads((DATA / "lldap-introspection.json").read_bytes())
    schema = build_client_schema(introspection.get("data", introspection))
    assert validate(schema, parse(document.text)) == []
