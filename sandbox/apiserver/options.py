"""The options of writes and deletions, read from the query and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from sandbox.apiserver.errors import (
    Cause,
    bad_request,
    forbidden_value,
    invalid_options,
    invalid_value,
    required,
    too_long,
    unsupported,
)
from sandbox.apiserver.messages import Request
from sandbox.apiserver.objects import Value
from sandbox.apiserver.patch import APPLY_PATCH

MAX_MANAGER = 128
VALIDATIONS = ("", "Ignore", "Strict", "Warn")
# What a garbage collector would take off when it has done its work; here nobody does.
PROPAGATIONS = {"Foreground": "foregroundDeletion", "Background": "", "Orphan": "orphan"}


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options of a create, update or patch."""

    dry_run: bool
    validation: str
    manager: str
    force: bool

    @classmethod
    def parse(cls, request: Request, kind: str, content_type: str = "") -> WriteOptions:
        """Raises StatusError 422; `kind` is CreateOptions and the like."""
        query = request.query
        validation = query.get("fieldValidation", "")
        manager = query.get("fieldManager", "")
        causes = [*_manager_causes(manager)]
        if content_type == APPLY_PATCH and not manager:
            causes.append(required("fieldManager", "is required for apply patch"))
        if kind == "PatchOptions" and content_type != APPLY_PATCH and "force" in query:
            causes.append(forbidden_value("force", "may not be specified for non-apply patch"))
        if validation not in VALIDATIONS:
            causes.append(unsupported("fieldValidation", validation, VALIDATIONS))
        if query.get("dryRun", "All") != "All":
            causes.append(unsupported("dryRun", [query["dryRun"]], ("All",)))
        if causes:
            raise invalid_options(kind, *causes)
        return cls(
            dry_run="dryRun" in query,
            validation=validation or "Warn",
            manager=manager or default_manager(request),
            force=request.flag("force"),
        )


def default_manager(request: Request) -> str:
    """Who writes without a fieldManager: the first word of the User-Agent."""
    agent = request.headers.get("user-agent", "").partition("/")[0]
    return agent[:MAX_MANAGER] or "unknown"


def _manager_causes(manager: str) -> list[Cause]:
    if len(manager.encode()) > MAX_MANAGER:
        return [too_long("fieldManager", MAX_MANAGER)]
    for at, char in enumerate(manager):
        if not char.isprintable():
            message = f"invalid character U+{ord(char):04X} (at position {at})"
            return [invalid_value("fieldManager", manager, message)]
    return []


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """Options of a deletion."""

    dry_run: bool
    uid: str
    resource_version: str
    propagation: str | None

    def finalizers(self, held: Sequence[str]) -> list[str]:
        """What holds a deleted object: a way of propagation, if asked for, replaces another."""
        if self.propagation is None:
            return list(held)
        wanted = PROPAGATIONS[self.propagation]
        left = [each for each in held if each not in PROPAGATIONS.values()]
        return [*left, wanted] if wanted else left

    @classmethod
    def parse(cls, request: Request) -> DeleteOptions:
        """Raises StatusError. A body is all that counts: beside one the query says nothing."""
        chosen = _body(request.body) if request.body.strip() else _queried(request)
        preconditions = chosen.get("preconditions") or {}
        dry_run, policy = chosen.get("dryRun") or [], chosen.get("propagationPolicy")
        causes = []
        if set(dry_run) - {"All"}:
            causes.append(unsupported("dryRun", dry_run, ("All",)))
        if policy is not None and policy not in PROPAGATIONS:
            causes.append(unsupported("propagationPolicy", policy, (*PROPAGATIONS, "nil")))
        if causes:
            raise invalid_options("DeleteOptions", *causes)
        return cls(
            dry_run=bool(dry_run),
            uid=preconditions.get("uid") or "",
            resource_version=preconditions.get("resourceVersion") or "",
            propagation=policy,
        )


def _queried(request: Request) -> dict[str, Value]:
    query = request.query
    found: dict[str, Value] = {"dryRun": [query["dryRun"]] if "dryRun" in query else []}
    return {**found, "propagationPolicy": query.get("propagationPolicy")}


def _body(raw: bytes) -> dict[str, Value]:
    try:
        parsed = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"error decoding DeleteOptions: {error}") from None
    if not isinstance(parsed, dict):
        raise bad_request("error decoding DeleteOptions: the body is no object")
    if not isinstance(parsed.get("dryRun", []), list):
        raise bad_request("error decoding DeleteOptions: dryRun is no list")
    return parsed
