"""Cases of the longest values, and of what lldap takes for one name."""

from collections.abc import Iterator
from typing import Any

from tests.reallldap.bed import LldapAdmin
from tests.reallldap.seen import Seen, calls, shown, stood
from tests.support.bed import Bed
from tests.support.migration import picture


def limits(bed: Bed) -> Iterator[Seen]:
    """The longest names and values that the CRDs let through, and a mark of the longest kind."""
    attribute = "a" * 64
    bed.schema(attribute)
    bed.schema("photo", kind="JpegPhoto")
    bed.run(3)
    yield "attribute", shown(bed, ("LldapAttributeSchema", f"user-{attribute}"))
    long = "\N{GRINNING FACE}"
    name = "n" * 253
    spec = {
        "username": "U" * 64,
        "email": f"{'e' * 243}@example.org",
        "displayName": long * 255,
        "firstName": "ä" * 255,
        "passwordPolicy": "Ignore",
        "attributes": [
            {"name": attribute, "value": ["v" * 5000]},
            {"name": "photo", "value": [picture(20_000)]},
            {"name": "avatar", "value": [picture()]},
        ],
    }
    bed.apply("LldapUser", name, spec)
    bed.apply("LldapGroup", name, {"displayName": long * 128})
    membership = {"userName": "u" * 64, "groupName": long * 128}
    bed.apply("LldapMembership", name, membership)
    bed.run(5)
    kinds = ("LldapUser", "LldapGroup", "LldapMembership")
    yield "made", shown(bed, *((kind, name) for kind in kinds))
    yield "directory", stood(bed)
    bed.run(1400, step=200)
    calls(bed)
    bed.run(700, step=100)
    yield "settled", calls(bed)


def taken(answer: Any) -> bool:
    """Whether lldap did it; each database refuses in its own words."""
    return isinstance(answer, dict)


def names(bed: Bed) -> Iterator[Seen]:
    """What lldap takes for a name, and what it takes for the same one."""
    admin = LldapAdmin(bed)
    query = (
        "mutation($n: String!) {addUserAttribute(name: $n, attributeType: STRING, isList: false, "
        "isVisible: false, isEditable: false) {ok}}"
    )
    group = "mutation($n: String!) {createGroup(name: $n) {displayName}}"
    for name in ("cost_center", "cost-center", "1abc", "größe", "a" * 64, "mail-alias", "A b", ""):
        yield f"attribute {name}", taken(admin.ask(query, n=name))
    for name in ("Ärzte", "ÄRZTE", "İstanbul", "istanbul", "i\u0307stanbul", "Straße", "STRASSE"):
        yield f"group {name}", taken(admin.ask(group, n=name))
    for name in ("Änne", "änne", "ÄNNE", "kelvin", "\u212aelvin", "a b"):
        email = f"{name}@example.org".replace(" ", "-")
        yield f"user {name}", taken(admin.make_user(name, email))
    yield "directory", stood(bed)
