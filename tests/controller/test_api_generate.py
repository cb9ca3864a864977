"""The generated files are what the code says, and the check finds one that is not."""

from pathlib import Path

import pytest
import yaml

from controller import generate
from controller.api import KINDS, Kind
from controller.api.schema import custom_resource_definition
from tests.support.envtest import ROOT


def test_the_generated_files_are_what_the_code_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--check"]) == 0, capsys.readouterr().err


def test_no_other_file_is_among_the_crds() -> None:
    found = {f"deploy/crds/{file.name}" for file in (ROOT / "deploy" / "crds").iterdir()}
    found.remove("deploy/crds/Kustomization")  # its name keeps it from `kubectl apply -f`
    assert found == {path for path in generate.GENERATORS if path.startswith("deploy/crds/")}
    assert len(found) == len(KINDS)


def test_the_check_names_files_that_differ_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate.main([], tmp_path) == 0
    assert generate.main(["--check"], tmp_path) == 0
    stale, missing = (
        tmp_path / "deploy/crds/lldapusers.yaml",
        tmp_path / "docs/reference/metadata.md",
    )
    stale.write_text("other\n")
    missing.unlink()
    assert generate.main(["--check"], tmp_path) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in lines] == [
        "deploy/crds/lldapusers.yaml",
        "docs/reference/metadata.md",
    ]
    assert stale.read_text() == "other\n"
    assert not missing.exists()


def test_writing_mends_what_differs_and_leaves_the_rest(tmp_path: Path) -> None:
    generate.write(tmp_path)
    untouched = tmp_path / "deploy/crds/lldapgroups.yaml"
    stale = tmp_path / "deploy/crds/lldapusers.yaml"
    before = untouched.stat().st_mtime_ns
    stale.write_text("other\n")
    generate.write(tmp_path)
    assert generate.stale(tmp_path) == []
    assert untouched.stat().st_mtime_ns == before


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.short)
def test_the_yaml_says_what_the_data_says(kind: Kind) -> None:
    text = (ROOT / "deploy" / "crds" / f"{kind.plural}.yaml").read_text()
    assert yaml.safe_load(text) == custom_resource_definition(kind)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.short)
def test_a_reference_page_names_every_field_rule_and_column(kind: Kind) -> None:
    page = (ROOT / "docs" / "reference" / f"{kind.singular}.md").read_text()
    for field in (*kind.spec.fields, *kind.status.fields):
        assert f"| `{field.name}` |" in page
    for rule in kind.spec.rules:
        assert rule.message in page
    for column in kind.columns:
        assert f"`{column.path}`" in page
    assert kind.finalizer in page
