import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.controlplane import ASSETS_VARIABLE
from tests.support.cluster import Cluster
from tests.support.kustomize import KUBECTL, NO_KUBECTL


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """An API server of the module's own; nothing of ours is installed."""
    if not KUBECTL:
        pytest.skip(NO_KUBECTL)
    with Cluster(Path(os.environ[ASSETS_VARIABLE])) as plane:
        yield plane
