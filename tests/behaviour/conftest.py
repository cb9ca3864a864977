"""One operator, on the sandbox's store in this thread and, with KUBEBUILDER_ASSETS, on a real
API server: every test of this folder runs on both."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.controlplane import ControlPlane
from tests.support.bed import Bed
from tests.support.envtest import real_plane_of_its_own
from tests.support.realbed import RealBed

CRDS = Path(__file__).parents[2] / "deploy/crds"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for fixture in ("bed", "bed_of_its_own"):
        if fixture in metafunc.fixturenames:
            real = pytest.param("real", marks=[pytest.mark.envtest, pytest.mark.slow])
            metafunc.parametrize(fixture, ["sandbox", real], indirect=True)


@pytest.fixture
def bed(request: pytest.FixtureRequest) -> Iterator[Bed]:
    if request.param == "sandbox":
        yield Bed()
        return
    plane: ControlPlane = request.getfixturevalue("real_plane")
    plane.install(CRDS)
    with RealBed(plane) as bed:
        yield bed


@pytest.fixture
def bed_of_its_own(request: pytest.FixtureRequest) -> Iterator[Bed]:
    """A bed on an API server whose CRDs the test may delete."""
    if request.param == "sandbox":
        yield Bed()
        return
    with real_plane_of_its_own() as plane:
        plane.install(CRDS)
        with RealBed(plane) as bed:
            yield bed
