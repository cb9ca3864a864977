"""What most tests of the controller begin with; a module that wants another bed has its own."""

import pytest

from tests.support.bed import Bed
from tests.support.directory import Directory


@pytest.fixture
def bed() -> Bed:
    return Bed()


@pytest.fixture
def directory(bed: Bed) -> Directory:
    return Directory(bed)
