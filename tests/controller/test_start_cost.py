"""What it costs when everything is there at the start and nothing of it is in lldap."""

from collections import Counter

from lldap.names import BUILT_IN_GROUPS
from tests.support.bed import Bed

NAMES = [f"user{number}" for number in range(20)]


def test_nothing_is_said_to_wait_for_what_was_applied_with_it(bed: Bed) -> None:
    """One status an object, though the names of memberships come before those of users."""
    for name in NAMES:
        bed.membership(name, f"g-{name}", name=f"a-{name}")
        bed.user(name, attributes=[{"name": "nickname", "value": ["Al"]}])
        bed.group(f"g-{name}")
    bed.schema("nickname")
    bed.start()
    bed.settle(400)
    written = Counter(path for _, path in bed.api_writes() if path.endswith("/status"))
    assert len(written) == 3 * len(NAMES) + 1 + len(BUILT_IN_GROUPS)
    assert set(written.values()) == {1}
