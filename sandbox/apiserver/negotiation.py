"""What form an answer has: the Accept header."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox.apiserver.errors import not_acceptable
from sandbox.apiserver.messages import JSON, PROTOBUF, YAML

TABLE, PARTIAL, PARTIAL_LIST = "Table", "PartialObjectMetadata", "PartialObjectMetadataList"
TRANSFORMS = {TABLE, PARTIAL, PARTIAL_LIST}
DISCOVERY = "APIGroupDiscoveryList"
OBJECT_TYPES = (JSON, YAML, PROTOBUF)
WATCH_TYPES = (f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")


@dataclass(frozen=True, slots=True)
class Form:
    """How an answer is written: its media type, and as what it is shown ("" as itself)."""

    media_type: str
    shown_as: str = ""


def _clauses(accept: str) -> list[tuple[str, dict[str, str]]]:
    found = []
    for clause in accept.split(",") if accept else ["*/*"]:
        kind, *parameters = (part.strip() for part in clause.split(";"))
        found.append((kind, dict(part.partition("=")[::2] for part in parameters)))
    return found


def _form(kind: str, parameters: Mapping[str, str], shown: Sequence[str]) -> Form | None:
    if kind in {"*/*", "application/*"}:
        kind = JSON
    if kind not in {JSON, YAML}:
        return None
    shown_as = parameters.get("as", "")
    if not shown_as:
        return Form(kind)
    known = shown_as in shown and parameters.get("v") in {"v1", "v2"}
    return Form(kind, shown_as) if known else None


def negotiate(
    accept: str, *, watch: bool = False, shown: Sequence[str] = tuple(TRANSFORMS)
) -> Form:
    """Return the first form that the client takes and the server has. Raises StatusError 406."""
    for kind, parameters in _clauses(accept):
        form = _form(kind, parameters, shown)
        if form is not None and not (watch and form.media_type == YAML):
            return form
    listed = ", ".join(WATCH_TYPES if watch else OBJECT_TYPES)
    raise not_acceptable(f"only the following media types are accepted: {listed}")


def error_type(accept: str) -> str:
    """The media type of a failure: JSON unless YAML was asked for first."""
    return YAML if _clauses(accept)[0][0] == YAML else JSON
