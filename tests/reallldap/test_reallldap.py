"""The comparison itself: an embedded lldap behind HTTP is taken for a real one."""

import pytest

from sandbox.lldap.server import Lldap
from tests.reallldap.__main__ import differences, play, real_bed
from tests.reallldap.cases import CASES
from tests.support.accounts import refused
from tests.support.bed import ADMIN_PASSWORD, Bed
from tests.support.clock import FakeClock
from tests.support.live import LiveLldap

QUICK = ("conflicts", "attributes_of_lldap")


def on_http(name: str, lldap: Lldap) -> list[str]:
    """What a case shows there that it does not show on a bed."""
    with LiveLldap(lldap).door() as url, real_bed(url, None) as bed:
        return list(differences(play(CASES[name], Bed()), play(CASES[name], bed)))


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else [pytest.mark.slow]) for n in CASES]
)
def test_a_case_shows_the_same_behind_http(name: str) -> None:
    assert on_http(name, Lldap(FakeClock(), admin_password=ADMIN_PASSWORD)) == []


def test_a_difference_is_shown() -> None:
    lldap = Lldap(FakeClock(), admin_password=ADMIN_PASSWORD)
    lldap.hooks.append(refused("createUser", "the words of another release"))
    found = on_http("conflicts", lldap)
    assert found
    assert "sandbox" in found[0]
    assert "real" in found[0]
