"""The folders of examples: attributes of every type, and passwords that another tool makes."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.api import API_VERSION
from controller.api.names import MARK_ATTRIBUTE
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.docpages import DOCS
from tests.support.migration import apply_object

FOLDER = DOCS / "examples"
# gitops/ is applied by kubectl in the walk through guides/gitops.md.
FOLDERS = {"attributes", "gitops", "rotation"}


def documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text()))


@pytest.fixture
def bed() -> Bed:
    return Bed()


def applied(bed: Bed, path: Path) -> list[dict[str, Any]]:
    ours = [each for each in documents(path) if each["apiVersion"] == API_VERSION]
    for each in ours:
        apply_object(bed, each)
    bed.run(40)
    return ours


def test_there_is_no_other_folder() -> None:
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} == FOLDERS


def test_the_attributes_are_declared_and_set(bed: Bed) -> None:
    for each in applied(bed, FOLDER / "attributes" / "attributes.yaml"):
        name = each["metadata"]["name"]
        assert bed.ready(each["kind"], name, "default") == ("True", "Verified"), name
    bob, interns = Directory(bed).user("bob"), Directory(bed).group("interns")
    assert bob
    assert interns
    held = bob.attributes
    assert held["phone"] == ["+41 44 000 00 00", "+41 79 000 00 00"]
    assert held["badge"] == ["4711"]
    assert held["avatar"][0].startswith("/9j/")
    assert held.keys() == {"phone", "badge", "avatar", MARK_ATTRIBUTE}
    (until,) = interns.attributes["valid-until"]
    assert until.startswith("2030-12-31T22:59:59")


def test_each_password_that_the_tool_makes_is_the_one_that_works(bed: Bed) -> None:
    path = FOLDER / "rotation" / "rotation.yaml"
    tool = next(each for each in documents(path) if each["kind"] == "ExternalSecret")
    (user,) = applied(bed, path)
    assert bed.ready("LldapUser", "grafana", "default") == ("False", "SecretNotFound")
    target, reference = tool["spec"]["target"], user["spec"]["passwordSecretRef"]
    assert reference["name"] == target["name"]
    assert reference["key"] in target["template"]["data"]
    for password in (b"made-first", b"made-next"):
        bed.secret(target["name"], password, namespace="default")
        bed.run(5)
        assert bed.ready("LldapUser", "grafana", "default") == ("True", "Verified")
        assert bed.login("grafana", password.decode()) == 200
    assert bed.login("grafana", "made-first") == 401
