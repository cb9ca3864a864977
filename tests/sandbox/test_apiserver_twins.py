"""The sandbox's API server and a real one say the same to the same random calls."""

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import orjson
import pytest
import requests

from sandbox.controlplane import ControlPlane
from tests.sandbox.apiserver_replay import RecordedClock
from tests.sandbox.apiserver_twins import RealTwin, SandboxTwin, Steps, compare

CRDS = Path(__file__).parent.parent.parent / "deploy" / "crds"
STEPS = 300

pytestmark = [pytest.mark.envtest, pytest.mark.slow]


@pytest.fixture
def session(crds: ControlPlane) -> Iterator[requests.Session]:
    with crds.session(crds.admin) as session:
        yield session


@pytest.mark.parametrize("seed", range(4))
def test_random_calls_get_the_answers_of_a_real_server(
    seed: int, crds: ControlPlane, session: requests.Session, namespace: str
) -> None:
    real, sandbox = RealTwin(crds.url, session), SandboxTwin(RecordedClock())
    sandbox.install(CRDS)
    body = orjson.dumps({"metadata": {"name": namespace}})
    sandbox.call("POST", "/api/v1/namespaces", body, "application/json")
    steps = islice(Steps(random.Random(seed), namespace), STEPS)
    wrong = [(step, problems) for step in steps if (problems := compare(real, sandbox, step))]
    assert not wrong, "\n".join(f"{step}: {problems}" for step, problems in wrong[:3])
