"""ObjectMeta: what the server fills in, what it refuses, what cannot change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sandbox.apiserver.errors import (
    Cause,
    forbidden_value,
    invalid_value,
    quote,
    required,
    too_long,
)
from sandbox.apiserver.objects import Object, meta

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
SUBDOMAIN = re.compile(rf"{LABEL.pattern}(\.{LABEL.pattern})*", re.ASCII)
NAME_PART = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
LABEL_VALUE = re.compile(rf"({NAME_PART.pattern})?", re.ASCII)
MAX_ANNOTATIONS = 262_144
SYSTEM_FIELDS = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
BAD_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for "
    r"validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
BAD_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
    "used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
BAD_NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
BAD_LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def _too_long(text: str, limit: int) -> Iterator[str]:
    if len(text) > limit:
        yield f"must be no more than {limit} bytes"


def _name_problems(name: str, *, label: bool) -> Iterator[str]:
    if label:
        yield from _too_long(name, 63)
        if not LABEL.fullmatch(name):
            yield BAD_LABEL
    else:
        yield from _too_long(name, 253)
        if not SUBDOMAIN.fullmatch(name):
            yield BAD_SUBDOMAIN


def _value_problems(value: str) -> Iterator[str]:
    yield from _too_long(value, 63)
    if not LABEL_VALUE.fullmatch(value):
        yield BAD_LABEL_VALUE


def _each(field: str, value: str, problems: Iterable[str]) -> Iterator[Cause]:
    for problem in problems:
        yield invalid_value(field, value, problem)


def qualified_name_problems(name: str) -> Iterator[str]:
    """What is wrong with a name with an optional DNS prefix."""
    prefix, slash, rest = name.rpartition("/")
    if slash and not SUBDOMAIN.fullmatch(prefix):
        yield f"prefix part {BAD_SUBDOMAIN}"
    if not rest:
        yield "name part must be non-empty"
    if len(rest) > 63:
        yield "name part must be no more than 63 bytes"
    if not NAME_PART.fullmatch(rest):
        yield BAD_NAME_PART


def validate(obj: Object, *, label: bool = False) -> list[Cause]:
    """All that is wrong with the metadata of an object by itself; `label`: of a namespace."""
    metadata = meta(obj)
    name, generate = metadata.get("name", ""), metadata.get("generateName", "")
    causes: list[Cause] = []
    if generate:
        stem = generate.removesuffix("-") or "x"
        causes += _each("metadata.generateName", generate, _name_problems(stem, label=label))
    elif name:
        causes += _each("metadata.name", name, _name_problems(name, label=label))
    else:
        causes.append(required("metadata.name", "name or generateName is required"))
    causes += _validate_maps(metadata)
    for finalizer in metadata.get("finalizers") or ():
        causes += _each("metadata.finalizers", finalizer, qualified_name_problems(finalizer))
    return causes


def _validate_maps(metadata: Object) -> Iterator[Cause]:
    """Labels, annotations and owners, which the server looks at more than once."""
    for key, value in (metadata.get("labels") or {}).items():
        yield from _each("metadata.labels", key, qualified_name_problems(key))
        yield from _each("metadata.labels", value, _value_problems(value))
    annotations = metadata.get("annotations") or {}
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > MAX_ANNOTATIONS:
        yield too_long("metadata.annotations", MAX_ANNOTATIONS)
    for i, owner in enumerate(metadata.get("ownerReferences") or ()):
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                yield required(f"metadata.ownerReferences[{i}].{name}", "must not be empty")


def validate_update(new: Object, old: Object, *, custom: bool, label: bool = False) -> list[Cause]:
    """All that is wrong with the metadata of a changed object.

    The server tells what it sees as often as it looks: at a change of a custom object twice.
    """
    changes = [*_validate_change(meta(new), meta(old)), *_validate_maps(meta(new))]
    return changes * (2 if custom else 1) + validate(new, label=label)


def _validate_change(new: Object, old: Object) -> Iterator[Cause]:
    added = set(new.get("finalizers") or ()) - set(old.get("finalizers") or ())
    if added and old.get("deletionTimestamp"):
        listed = ", ".join(quote(each) for each in sorted(added))
        yield forbidden_value(
            "metadata.finalizers",
            "no new finalizers can be added if the object is being deleted, found new finalizers "
            f"[]string{{{listed}}}",
        )
    for name in SYSTEM_FIELDS:
        if name in new and new[name] != old.get(name):
            yield invalid_value(f"metadata.{name}", new[name], "field is immutable")


def finalizer_warnings(obj: Object, old: Object | None) -> Iterator[str]:
    """A finalizer without a domain earns a warning when it comes."""
    known = (meta(old).get("finalizers") or ()) if old else ()
    for name in meta(obj).get("finalizers") or ():
        if "/" not in name and name not in known:
            yield (
                f"metadata.finalizers: {quote(name)}: prefer a domain-qualified finalizer name to "
                "avoid accidental conflicts with other finalizer writers"
            )
