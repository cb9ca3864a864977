"""What Argo CD and Flux make of our objects, by the expressions that we ship for them."""

import json
from dataclasses import dataclass
from typing import Any

import cel
import lupa.lua51
import pytest
import yaml

from controller.api import API_VERSION, KINDS
from tests.support.kustomize import DEPLOY

FLUX = DEPLOY / "gitops" / "flux" / "kustomization-sample.yaml"

Object = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """An object, and what each of the two tools is to make of it."""

    obj: Object
    argo: str
    flux: str


def obj(*conditions: Object, generation: int = 2, **metadata: str) -> Object:
    whole: Object = {"metadata": {"generation": generation, **metadata}}
    if conditions:
        whole["status"] = {
            "observedGeneration": conditions[0]["observedGeneration"],
            "conditions": list(conditions),
        }
    return whole


def condition(kind: str, status: str, reason: str, generation: int = 2) -> Object:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": "m",
        "observedGeneration": generation,
    }


READY = condition("Ready", "True", "Verified")
PROGRESSING = condition("Ready", "False", "Pending")
STALLED = condition("Stalled", "True", "Conflict")
CASES = {
    "not looked at": Case(obj(), "Progressing", "in progress"),
    "ready": Case(obj(READY), "Healthy", "current"),
    "ready, and a condition of another's": Case(
        obj(READY, condition("Audited", "False", "Later")), "Healthy", "current"
    ),
    "ready before the last change": Case(obj(READY, generation=3), "Progressing", "in progress"),
    "on its way": Case(
        obj(PROGRESSING, condition("Reconciling", "True", "Pending")), "Progressing", "in progress"
    ),
    "stalled": Case(obj(condition("Ready", "False", "Conflict"), STALLED), "Degraded", "failed"),
    "stalled before the last change": Case(
        obj(condition("Ready", "False", "Conflict"), STALLED, generation=3),
        "Progressing",
        "in progress",
    ),
    "paused": Case(obj(condition("Ready", "Unknown", "Paused")), "Suspended", "in progress"),
    "being deleted": Case(
        obj(READY, deletionTimestamp="2030-01-01T00:00:00Z"), "Progressing", "current"
    ),
}


def in_lua(value: Any) -> str:
    """A JSON value as Lua writes it."""
    match value:
        case dict():
            return "{" + ",".join(f"[{in_lua(k)}]={in_lua(v)}" for k, v in value.items()) + "}"
        case list():
            return "{" + ",".join(map(in_lua, value)) + "}"
        case bool() | int():
            return json.dumps(value)
    return json.dumps(str(value))


@pytest.mark.parametrize("name", CASES)
def test_argo_cd(name: str) -> None:
    script = (DEPLOY / "gitops" / "argocd" / "health.lua").read_text()
    program = f"obj = {in_lua(CASES[name].obj)}\nlocal health = (function()\n{script}\nend)()\n"
    lua = lupa.lua51.LuaRuntime()  # Argo CD's Lua is 5.1
    status, message = lua.execute(program + "return health.status, health.message")
    assert status == CASES[name].argo
    assert isinstance(message, str)


def expressions() -> dict[str, dict[str, str]]:
    checks = yaml.safe_load(FLUX.read_text())["spec"]["healthCheckExprs"]
    assert {check.pop("apiVersion") for check in checks} == {API_VERSION}
    return {check.pop("kind"): check for check in checks}


def test_flux_is_told_of_each_kind() -> None:
    assert set(expressions()) == {kind.kind for kind in KINDS}


@pytest.mark.parametrize("kind", [kind.kind for kind in KINDS])
@pytest.mark.parametrize("name", CASES)
def test_flux(name: str, kind: str) -> None:
    context = cel.Context(variables=CASES[name].obj)
    verdicts = {}
    for verdict, expression in expressions()[kind].items():
        try:
            verdicts[verdict] = cel.evaluate(expression, context)
        except (RuntimeError, ValueError):  # no such field: Flux takes it for "in progress"
            verdicts[verdict] = False
    found = [verdict for verdict, holds in verdicts.items() if holds] or ["in progress"]
    assert found == [CASES[name].flux]
