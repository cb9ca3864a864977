"""Every reason that an object of every kind can have: how it shows, and what tools make of it."""

import re
from typing import Any

import orjson
import pytest

from controller.api import KINDS, Kind
from controller.harness.conditions import MAX_CONDITION_MESSAGE_BYTES, find
from controller.harness.reasons import BY_REASON, TABLE, Reason
from controller.harness.resource import Object
from controller.harness.taxonomy import Disposition
from sandbox.apiserver.messages import Request
from tests.conformance.situations import GROUP, NAMES, SITUATIONS, Stage, stage
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.kstatus import Status, compute

PAIRS = sorted(SITUATIONS, key=lambda pair: (pair[1], pair[0].kind))
WHAT_TO_DO = re.compile(
    r"\b(add|change|check|choose|correct|create|delete|let|look|make|must|put|remove|removed|see|"
    r"set|stop|use|wait)\b|lldap-operator release|comes back|tried again|once more",
    re.IGNORECASE,
)


def test_the_table_names_the_pairs_that_are_shown_and_no_others() -> None:
    listed = {(kind, entry.reason) for entry in TABLE for kind in entry.kinds}
    assert set(SITUATIONS) == listed


def expected(reason: Reason, obj: Object) -> Status:
    """What kstatus has to make of it."""
    entry = BY_REASON[reason]
    if obj["metadata"].get("deletionTimestamp"):
        return Status.TERMINATING
    if entry.ready == "True":
        return Status.CURRENT
    terminal = entry.rule is not None and entry.rule.disposition is Disposition.TERMINAL
    return Status.FAILED if terminal else Status.IN_PROGRESS


def columns(bed: Bed, on: Stage) -> dict[str, Any]:
    """What `kubectl get -o wide` prints of the object."""
    headers = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    path = bed.path(on.kind.kind, on.namespace, on.name)
    table = orjson.loads(bed.api.request(Request("GET", path, {}, headers, b"")).body)
    names = [each["name"] for each in table["columnDefinitions"]]
    return dict(zip(names, table["rows"][0]["cells"], strict=True))


@pytest.mark.parametrize(
    ("kind", "reason"), PAIRS, ids=[f"{kind.kind}-{reason}" for kind, reason in PAIRS]
)
def test_a_reason_of_a_kind_is_shown(kind: Kind, reason: Reason) -> None:
    on = SITUATIONS[kind, reason](kind)
    obj, entry = on.obj, BY_REASON[reason]
    ready = find(obj["status"], "Ready")
    assert ready is not None
    message = ready["message"]
    assert (ready["status"], ready["reason"]) == (entry.ready, reason)
    assert 0 < len(message.encode()) <= MAX_CONDITION_MESSAGE_BYTES
    assert entry.ready == "True" or WHAT_TO_DO.search(message), message
    assert compute(obj) is expected(reason, obj)
    printed = columns(on.bed, on)
    assert (printed["Ready"], printed["Reason"]) == (entry.ready, reason)
    assert printed["Message"] == message


def test_a_failure_of_a_kind_is_told_in_an_event_of_its_reason() -> None:
    on = SITUATIONS[GROUP, Reason.BUILT_IN_CONFLICT](GROUP)
    told = [(who, kind) for who, kind, reason, _ in on.bed.events.seen if reason == on_reason(on)]
    assert told == [(f"LldapGroup {NAMES[GROUP]}", "Warning")]


def on_reason(on: Stage) -> str:
    return on.bed.ready(on.kind.kind, on.name, on.namespace)[1]


def test_a_message_with_the_longest_names_still_says_what_to_do() -> None:
    on = stage(GROUP)
    long = "\N{GRINNING FACE}" * 128
    Directory(on.bed).make_user("member")
    Directory(on.bed).make_group(long, "member")
    on.bed.start()
    on.make(displayName=long, name="n" * 130)
    on.bed.settle()
    assert on_reason(on) == Reason.NOT_ADOPTED
    message = on.bed.message("LldapGroup", on.name)
    assert len(message.encode()) <= MAX_CONDITION_MESSAGE_BYTES
    assert message.startswith("group \N{GRINNING FACE}")
    assert message.endswith(
        "Run once with LLDAP_ADOPTION=Always, or ask an lldap administrator to set its attribute "
        "kubernetes-owner to "
        f'"invite default team-a/{on.name}"'
    )
    assert "\ufffd" not in message


def test_kstatus_knows_what_is_new_and_what_another_generation_was_seen_of() -> None:
    obj: Object = {"metadata": {"generation": 2}, "status": {"observedGeneration": 1}}
    assert compute(obj) is Status.IN_PROGRESS
    assert compute({"metadata": {"generation": 2}}) is Status.CURRENT
    assert {kind.kind for kind in KINDS} == {kind.kind for kind, _ in SITUATIONS}
