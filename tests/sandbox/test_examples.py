"""The examples of the docs work, applied and deleted in any order, and touch nothing else."""

import random
from typing import Any

import pytest
import yaml

from controller.api import KINDS
from controller.api.names import MARK_ATTRIBUTE
from informers import StatusError
from tests.support.bed import Bed
from tests.support.examples import FOLDER, OPERATOR_NAMESPACE, documents, path_of

SAMPLES = 40
SECONDS = 1300  # two resyncs


def bed_of_examples(seed: int = 1) -> Bed:
    bed = Bed(seed=seed, virtual_group_namespace=OPERATOR_NAMESPACE)
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OPERATOR_NAMESPACE}}
    bed.admin.post("/api/v1/namespaces", body)
    bed.start(own_namespace=OPERATOR_NAMESPACE)
    with bed.lldap.database() as store:
        store.create_user("mallory", "mallory@example.org", "Mallory")
        store.create_group("others")
        store.add_member("mallory", 4)
    bed.settle()
    return bed


def apply(bed: Bed, document: dict[str, Any]) -> None:
    bed.admin.patch(
        path_of(document),
        document,
        content_type="application/apply-patch+yaml",
        field_manager="person",
        force=True,
    )


def not_ready(bed: Bed, wanted: list[dict[str, Any]]) -> list[str]:
    found = []
    for document in wanted:
        if document["kind"] == "Secret":
            continue
        metadata = document["metadata"]
        status, reason = bed.ready(document["kind"], metadata["name"], metadata["namespace"])
        if status != "True":
            found.append(f"{document['kind']} {metadata['name']}: {reason}")
    return found


def gone(bed: Bed, document: dict[str, Any]) -> bool:
    try:
        bed.admin.get(path_of(document))
    except StatusError as error:
        return error.code == 404
    return False


def everything(bed: Bed) -> Any:
    """All users, groups and attributes in lldap, but for when they were touched and the mark."""
    state = bed.lldap.snapshot()
    return [
        (
            {
                key: ({k: v for k, v in row.columns.items() if "modified" not in k}, row.links)
                for key, row in table.rows.items()
            },
            [row.attributes for row in table.rows.values()],
            [attribute for name, attribute in table.stored.items() if name != MARK_ATTRIBUTE],
        )
        for table in (state.users, state.groups)
    ]


def test_there_is_an_example_of_each_kind() -> None:
    assert {d["kind"] for d in documents()} == {"Secret", *(kind.kind for kind in KINDS)}
    assert {path.name for path in FOLDER.glob("*.yaml")} == {
        "attribute-schema.yaml",
        "built-in-group.yaml",
        "group.yaml",
        "membership.yaml",
        "user.yaml",
    }


@pytest.mark.parametrize("seed", range(SAMPLES))
def test_the_examples_work_in_any_order_and_leave_nothing_behind(seed: int) -> None:
    chance = random.Random(seed)
    bed = bed_of_examples(seed)
    before = everything(bed)
    wanted = documents()
    chance.shuffle(wanted)
    for document in wanted:
        apply(bed, document)
        bed.run(chance.choice([0, 0, 1, 30]))
    bed.run(60)
    assert not_ready(bed, wanted) == []
    assert bed.login("alice", "correct horse battery staple") == 200
    assert bed.login("helpdesk", "another horse with another staple") == 200
    chance.shuffle(wanted)
    for document in wanted:
        bed.admin.delete(path_of(document))
        bed.run(chance.choice([0, 0, 1, 30]))
    bed.run(120)
    assert [path_of(document) for document in wanted if not gone(bed, document)] == []
    assert everything(bed) == before
    virtual = bed.admin.get("/apis/lldap-operator.lukidoescode.com/v1alpha1/lldapgroups")["items"]
    assert len(virtual) == 3


def test_the_examples_are_ready_at_once_and_nothing_is_written_a_second_time() -> None:
    bed = bed_of_examples()
    for document in documents():
        apply(bed, document)
    bed.run(40)
    assert not_ready(bed, documents()) == []
    bed.clear_logs()
    for document in documents():
        if document["kind"] != "Secret":  # a Secret that is written again has another version
            apply(bed, document)
    bed.run(SECONDS, step=100)
    assert bed.mutations() == []
    assert bed.api_writes() == []


@pytest.mark.parametrize("without", ["attribute-schema.yaml", "user.yaml", "group.yaml"])
def test_what_is_missing_is_named_and_comes_by_itself(without: str) -> None:
    bed = bed_of_examples()
    missing = list(yaml.safe_load_all((FOLDER / without).read_text()))
    paths = {path_of(document) for document in missing}
    for document in documents():
        if path_of(document) not in paths:
            apply(bed, document)
    bed.run(30)
    assert not_ready(bed, [d for d in documents() if path_of(d) not in paths])
    for document in missing:
        apply(bed, document)
    bed.run(30)
    assert not_ready(bed, documents()) == []


def test_the_samples_differ() -> None:
    orders = set()
    for seed in range(SAMPLES):
        wanted = [path_of(document) for document in documents()]
        random.Random(seed).shuffle(wanted)
        orders.add(tuple(wanted))
    assert len(orders) == SAMPLES
