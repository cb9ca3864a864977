"""Creates, PUTs and patches: from the body of a request to a change of an object."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from sandbox.apiserver import errors
from sandbox.apiserver.apply import read_applied, typed
from sandbox.apiserver.authorization import Attributes, Authorizer
from sandbox.apiserver.decoding import (
    duplicate_fields,
    media_type,
    normalize,
    read_object,
    strict_problems,
    undecodable,
    undecodable_patch,
)
from sandbox.apiserver.errors import DecodeError, bad_request
from sandbox.apiserver.managedfields import decode
from sandbox.apiserver.messages import JSON, Request
from sandbox.apiserver.objects import Object, Value, meta, with_metadata
from sandbox.apiserver.patch import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    PatchError,
    json_patch,
    merge_patch,
)
from sandbox.apiserver.registry import Call, Registry, blank
from sandbox.apiserver.schema import fill_defaults

CUSTOM_PATCHES = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
BUILTIN_PATCHES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)

Patcher = Callable[[Object], Value]


class Writes:
    """Any thread."""

    def __init__(self, registry: Registry, authorizer: Authorizer) -> None:
        self._registry = registry
        self._authorizer = authorizer

    def carry_out(self, call: Call, request: Request, verb: str) -> tuple[int, Object]:
        """Return the HTTP status and the object. Raises StatusError."""
        content_type = media_type(request.headers.get("content-type", ""))
        if verb == "patch":
            return self._patch(call, request.body, content_type)
        obj = read_object(call.resource, request.body, content_type)
        try:
            obj, unknown = normalize(call.resource, obj)
            obj = call.strategy.decode(obj)
            is_json = content_type in {"", JSON} and call.options.validation != "Ignore"
            duplicates = duplicate_fields(request.body) if is_json else []
            _tell(call, strict_problems(unknown, duplicates))
            return self._create(call, obj) if verb == "create" else self._put(call, obj)
        except DecodeError as error:
            raise undecodable(call.resource, error) from None

    def _create(self, call: Call, obj: Object) -> tuple[int, Object]:
        _check_namespace(call, obj)
        return 201, self._registry.create(call.named(meta(obj).get("name", "")), obj)

    def _put(self, call: Call, obj: Object) -> tuple[int, Object]:
        _check_identity(call, obj)
        if call.strategy.creates_on_update and not self._registry.exists(call):
            return self._create(call, with_metadata(obj, resourceVersion=None))
        if call.subresource == "finalize":
            spec = {key: value for key, value in obj["spec"].items() if value}
            return 200, self._registry.update(call, lambda live: {**live, "spec": spec})
        return 200, self._registry.update(call, lambda _: obj, put=True)

    def _patch(self, call: Call, body: bytes, content_type: str) -> tuple[int, Object]:
        accepted = CUSTOM_PATCHES if call.resource.custom else BUILTIN_PATCHES
        if content_type not in accepted:
            raise errors.unsupported_media_type(accepted)
        if content_type == APPLY_PATCH:
            return self._apply(call, body)
        patcher = _json_patcher(body) if content_type == JSON_PATCH else _merge_patcher(body)
        patched: Object = {}

        def change(live: Object) -> Object:
            nonlocal patched
            patched = patcher(live)
            obj, unknown = normalize(call.resource, patched)
            _tell(call, strict_problems(unknown, []))
            return call.strategy.decode(obj)

        try:
            return 200, self._registry.update(call, change)
        except PatchError:
            raise errors.unprocessable_patch() from None
        except DecodeError as error:
            raise undecodable_patch(patched, error) from None

    def _apply(self, call: Call, body: bytes) -> tuple[int, Object]:
        applied = read_applied(call.resource, body)
        _check_identity(call, applied)
        manager = self._registry.field_manager(call, "Apply")

        def change(live: Object) -> Object:
            patch = typed(call.resource, applied)
            managed = decode(meta(live).get("managedFields"))
            merged = manager.apply(live, patch, managed, force=call.options.force)
            return call.strategy.decode(fill_defaults(call.resource.schema, merged))

        try:
            if call.subresource or self._registry.exists(call):
                return 200, self._registry.update(call, change, applied=True)
            new = change(blank(call.resource))
            self._check_creation(call, applied)
            version = meta(new).get("resourceVersion") if call.options.dry_run else None
            new = with_metadata(new, name=call.name, resourceVersion=version)
            return 201, self._registry.create(call, new, applied=True)
        except DecodeError as error:
            raise undecodable(call.resource, error) from None

    def _check_creation(self, call: Call, applied: Object) -> None:
        """Whether an apply may create: it needs the right to, and cannot mean another object."""
        wanted = Attributes(
            verb="create",
            group=call.resource.group,
            resource=call.resource.plural,
            namespace=call.namespace,
            name=call.name,
        )
        self._authorizer.check(call.user, call.resource, wanted)
        uid = meta(applied).get("uid")
        if uid:
            message = (
                f"uid mismatch: the provided object specified uid {uid}, "
                "and no existing object was found"
            )
            raise errors.conflict(call.resource, call.name, message)


def _tell(call: Call, problems: list[str]) -> None:
    """Refuse fields that do not count, warn of them, or say nothing, as was asked."""
    if problems and call.options.validation == "Strict":
        raise DecodeError(f"strict decoding error: {', '.join(problems)}")
    if call.options.validation == "Warn":
        call.warnings.extend(problems)


def _check_namespace(call: Call, obj: Object) -> None:
    if meta(obj).get("namespace", call.namespace) != call.namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def _check_identity(call: Call, obj: Object) -> None:
    name = meta(obj).get("name", call.name)
    if name != call.name:
        raise bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({call.name})"
        )
    _check_namespace(call, obj)


def _parse_patch(body: bytes) -> Value:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"error decoding patch: {error}") from None


def _json_patcher(body: bytes) -> Patcher:
    operations = _parse_patch(body)
    if not isinstance(operations, list):
        raise bad_request(
            "error decoding patch: json: cannot unmarshal object into Go value of type "
            "[]handlers.jsonPatchOp"
        )
    return lambda live: json_patch(live, operations)


def _merge_patcher(body: bytes) -> Patcher:
    patch = _parse_patch(body)
    if not isinstance(patch, dict):
        raise bad_request(
            "error decoding patch: json: cannot unmarshal array into Go value of type "
            "map[string]interface {}"
        )
    return lambda live: merge_patch(live, patch)
