"""Whether the API server would take a manifest, and what to leave out so that it does."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

from controller.api import (
    AttributeSchemaSpec,
    GroupSpec,
    InvalidSpec,
    MembershipSpec,
    UserSpec,
)
from controller.migrate.report import Report
from controller.migrate.text import quoted

LARGEST_OBJECT: Final = 1_000_000
"""Bytes of JSON. etcd takes 1.5 MiB, managedFields and status included."""

_PARSERS: Final[Mapping[str, Callable[[Mapping[str, Any]], object]]] = {
    "LldapUser": UserSpec.parse,
    "LldapGroup": GroupSpec.parse,
    "LldapMembership": MembershipSpec.parse,
    "LldapAttributeSchema": AttributeSchemaSpec.parse,
}
_OPTIONAL: Final = {
    "LldapUser": frozenset({"displayName", "firstName", "lastName"}),
}
# What is wrong with a field that an object cannot be without, and what to do.
_REQUIRED: Final = {
    ("LldapUser", "spec.username"): (
        "its name must be 1 to 64 letters, digits, dots, dashes and underscores, not dots alone, "
        "and lldap cannot rename an account: make another one, or go on with this one by hand"
    ),
    ("LldapUser", "spec.email"): (
        "its e-mail must have one @, a dot in the domain and no spaces, and at most 255 "
        "characters: change it, then do this again"
    ),
    ("LldapGroup", "spec.displayName"): (
        "its name must have 1 to 128 characters: rename it, then do this again"
    ),
    ("LldapAttributeSchema", "spec.attributeName"): (
        "its name must be 1 to 64 letters, digits and dashes, a letter or digit first, and no "
        "built-in one; lldap cannot rename an attribute: make another one"
    ),
}
_PATH: Final = re.compile(r"spec\.(\w+)(?:\[(\d+)\])?.*")


def fit(manifest: dict[str, Any], words: str, report: Report) -> bool:
    """Take out of `manifest` what its CRD refuses; False if it cannot do without.

    `words` name it in the report, which learns of each thing that is left out.
    """
    kind, spec = manifest["kind"], manifest["spec"]
    while True:
        try:
            _PARSERS[kind](manifest)
        except InvalidSpec as error:
            dropped = _dropped(kind, spec, error.field)
            if not dropped:
                why = _REQUIRED.get((kind, error.field), f"{error.field} {error.reason}")
                report.left_out(words, why)
                return False
            report.left_out(f"{dropped} of {words}", f"{error.field} {error.reason}")
        else:
            break
    _shrink(manifest, words, report)
    if not spec.get("attributes", True):
        del spec["attributes"]
    return True


def _dropped(kind: str, spec: dict[str, Any], path: str) -> str:
    """Take out what breaks a rule; in words what it was, "" if that cannot be."""
    found = _PATH.fullmatch(path)
    assert found is not None, "every path of a spec begins with spec."
    name, index = found.groups()
    if name == "attributes":  # without an index there are too many
        entry = spec[name].pop(-1 if index is None else int(index))
        return f"attribute {quoted(entry['name'])}"
    if name not in _OPTIONAL.get(kind, ()):
        return ""
    del spec[name]
    return str(name)


def _shrink(manifest: dict[str, Any], words: str, report: Report) -> None:
    """Leave out the largest values until the object can be stored: pictures, that is."""
    entries = manifest["spec"].get("attributes", [])
    size = len(orjson.dumps(manifest))
    while size > LARGEST_OBJECT and entries:
        entry = max(entries, key=lambda entry: len(orjson.dumps(entry)))
        entries.remove(entry)
        report.left_out(
            f"attribute {quoted(entry['name'])} of {words}",
            f"with it the object has {size} bytes, and Kubernetes stores at most "
            f"{LARGEST_OBJECT}: make the picture smaller, or leave it to lldap",
        )
        size = len(orjson.dumps(manifest))
