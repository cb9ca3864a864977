"""What it costs when everything is there at the start and nothing of it is in lldap."""

from collections import Counter

import orjson

from lldap.names import BUILT_IN_GROUPS
from sandbox.lldap.faults import refuse
from tests.support.bed import Bed

NAMES = [f"user{number}" for number in range(20)]


def apply_all(bed: Bed) -> None:
    """The names of memberships come before those of users, and are first in every list."""
    for name in NAMES:
        bed.membership(name, f"g-{name}", name=f"a-{name}")
        bed.user(name, attributes=[{"name": "nickname", "value": ["Al"]}])
        bed.group(f"g-{name}")
    bed.schema("nickname")


def written(bed: Bed) -> list[tuple[str, str]]:
    """The path of each status that was written, and the reason that it gives."""
    found = []
    for call in [each.call for each in bed.api_transport.calls]:
        if call.path.endswith("/status"):
            conditions = orjson.loads(call.body)["status"]["conditions"]
            found += [(call.path, c["reason"]) for c in conditions if c["type"] == "Ready"]
    return found


def test_nothing_is_said_to_wait_for_what_was_applied_with_it(bed: Bed) -> None:
    apply_all(bed)
    bed.start()
    bed.settle(400)
    times = Counter(path for path, _ in written(bed))
    assert len(times) == 3 * len(NAMES) + 1 + len(BUILT_IN_GROUPS)
    assert set(times.values()) == {1}
    assert {reason for _, reason in written(bed)} == {"Verified", "BuiltIn"}


def test_nor_when_lldap_comes_later(bed: Bed) -> None:
    apply_all(bed)
    bed.lldap.hooks.append(refuse)
    bed.start()
    bed.settle(400)
    assert bed.ready("LldapMembership", f"a-{NAMES[0]}") == ("False", "LldapUnavailable")
    bed.clear_logs()
    bed.lldap.hooks.clear()
    bed.run(10, step=0.05)
    # Events come one by one here, so a pass may begin from an old copy and write once more.
    assert len({path for path, _ in written(bed)}) >= 3 * len(NAMES)
    assert {reason for _, reason in written(bed)} == {"Verified", "BuiltIn"}
