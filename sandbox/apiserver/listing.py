"""Lists: which objects, of which revision, page by page, and in which form."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import orjson

from sandbox.apiserver import errors
from sandbox.apiserver.errors import bad_request, forbidden_value, invalid_options, unsupported
from sandbox.apiserver.messages import Request
from sandbox.apiserver.negotiation import PARTIAL, PARTIAL_LIST, TABLE, Form
from sandbox.apiserver.objects import Object, Value, key_of
from sandbox.apiserver.resources import Resource
from sandbox.apiserver.selectors import parse_fields, parse_labels
from sandbox.apiserver.store import Store, TooOldError
from sandbox.apiserver.strategy import Strategy
from sandbox.apiserver.table import partial, table

EXACT, NOT_OLDER = "Exact", "NotOlderThan"
MATCHES = (EXACT, NOT_OLDER, "")
LIST_BESIDE_OBJECT = {PARTIAL: "a list", PARTIAL_LIST: "not a list"}


def parse_number(query: str, name: str) -> int:
    """Read a number from a query. Raises StatusError 400."""
    try:
        return int(query or 0)
    except ValueError:
        message = f'strconv.ParseInt: parsing "{query}": invalid syntax'
        if name == "resourceVersion":
            message = (
                f'invalid resource version: resourceVersion: Invalid value: "{query}": '
                f'strconv.ParseUint: parsing "{query}": invalid syntax'
            )
        raise bad_request(message) from None


@dataclass(frozen=True, slots=True)
class ListOptions:
    """Options of a list or watch."""

    version: int | None
    match: str
    limit: int
    token: str
    initial_events: bool
    bookmarks: bool
    timeout: int

    @classmethod
    def parse(cls, request: Request, *, watch: bool) -> ListOptions:
        """Raises StatusError."""
        query = request.query
        _check_match(request, watch=watch)
        version = query.get("resourceVersion", "")
        number = parse_number(version, "resourceVersion")
        if query.get("continue") and version:
            raise bad_request("specifying resource version is not allowed when using continue")
        return cls(
            version=number if version else None,
            match=query.get("resourceVersionMatch", ""),
            limit=max(parse_number(query.get("limit", ""), "limit"), 0),
            token=query.get("continue", ""),
            initial_events=request.flag("sendInitialEvents"),
            bookmarks=request.flag("allowWatchBookmarks"),
            timeout=parse_number(query.get("timeoutSeconds", ""), "timeoutSeconds"),
        )


def _check_match(request: Request, *, watch: bool) -> None:
    match = request.query.get("resourceVersionMatch", "")
    field, initial = "resourceVersionMatch", "sendInitialEvents" in request.query
    causes = []
    if watch and initial and match != NOT_OLDER:
        message = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        causes.append(forbidden_value(field, message))
    elif watch and match and not initial:
        message = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        causes.append(forbidden_value(field, message))
    elif not watch:
        causes += _list_match_causes(match, request.query.get("resourceVersion", ""))
    if initial and not watch:
        message = "sendInitialEvents is forbidden for list"
        causes.append(forbidden_value("sendInitialEvents", message))
    if causes:
        raise invalid_options("ListOptions", *causes)


def _list_match_causes(match: str, version: str) -> list[errors.Cause]:
    field = "resourceVersionMatch"
    if match not in MATCHES:
        return [unsupported(field, match, MATCHES)]
    if match and not version:
        message = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        return [forbidden_value(field, message)]
    if match == EXACT and version == "0":
        message = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        return [forbidden_value(field, message)]
    return []


def encode_token(revision: int, start: str) -> str:
    """The continue token of a page that ended with the key before `start`."""
    text = orjson.dumps({"v": "meta.k8s.io/v1", "rv": revision, "start": f"{start}\0"})
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def decode_token(token: str) -> tuple[int, str]:
    """Return the revision and the key after which the page begins. Raises StatusError 400."""
    try:
        padded = token + "=" * (-len(token) % 4)
        found = orjson.loads(base64.urlsafe_b64decode(padded))
        return int(found["rv"]), str(found["start"]).strip("/\0")
    except (binascii.Error, ValueError, KeyError, TypeError):
        message = "continue key is not valid: invalid character 'i' looking for beginning of value"
        raise bad_request(f"invalid continue token: {message}") from None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which objects of a resource somebody asked for."""

    resource: Resource
    strategy: Strategy
    namespace: str
    request: Request

    def matcher(self) -> Callable[[Object], bool] | None:
        """Whether a stored object matches; None if all do. Raises StatusError 400."""
        labels = parse_labels(self.request.query.get("labelSelector", ""))
        text = self.request.query.get("fieldSelector", "")
        fields = parse_fields(text, self._supported()) if text else []
        if labels is None and not fields:
            return None
        selectable = self.strategy.selectable

        def matches(obj: Object) -> bool:
            if labels is not None and not labels(obj["metadata"].get("labels") or {}):
                return False
            found = selectable(obj) if fields else {}
            return all((found[key] == value) == equal for key, value, equal in fields)

        return matches

    def _supported(self) -> set[str]:
        blank: Object = {"metadata": {}}
        if self.resource.storage == "events":
            blank["regarding"] = {}
        return set(self.strategy.selectable(blank))

    def key_of(self, obj: Object) -> str:
        """What an object is paged by, seen from the asked namespace."""
        meta = obj["metadata"]
        namespace = "" if self.namespace else meta.get("namespace", "")
        return key_of(namespace, meta["name"])

    def contains(self, obj: Object) -> bool:
        """Whether an object is in the asked namespace."""
        return not self.namespace or obj["metadata"].get("namespace") == self.namespace


def read_page(
    store: Store, selection: Selection, options: ListOptions
) -> tuple[list[Object], Object]:
    """Return the stored objects of a page and the list's metadata. Raises StatusError."""
    matches = selection.matcher()
    start = ""
    revision = options.version if options.match == EXACT else None
    if options.token:
        asked, start = decode_token(options.token)
        revision = None if asked < 0 else asked
    current = store.revision
    if (options.version or 0) > current or (revision or 0) > current:
        raise errors.version_too_large(max(options.version or 0, revision or 0), current)
    try:
        objects, revision = store.snapshot(selection.resource.storage, revision)
    except TooOldError:
        raise _expired(start) from None
    chosen = [obj for obj in objects if selection.contains(obj)]
    if start:
        chosen = [obj for obj in chosen if selection.key_of(obj) > start]
    if matches is not None:
        chosen = [obj for obj in chosen if matches(obj)]
    limit = 0 if options.version == 0 else options.limit
    return _cut_page(selection, chosen, revision, limit, counted=matches is None)


def _expired(start: str) -> errors.StatusError:
    if not start:
        return errors.expired(errors.TOO_OLD_LIST)
    error = errors.expired(errors.TOO_OLD_CONTINUE)
    error.metadata = {"continue": encode_token(-1, start)}
    return error


def _cut_page(
    selection: Selection, chosen: list[Object], revision: int, limit: int, *, counted: bool
) -> tuple[list[Object], Object]:
    metadata: Object = {"resourceVersion": str(revision), "continue": ""}
    if not 0 < limit < len(chosen):
        return chosen, metadata
    page = chosen[:limit]
    metadata["continue"] = encode_token(revision, f"/{selection.key_of(page[-1])}")
    if counted:
        metadata["remainingItemCount"] = len(chosen) - limit
    return page, metadata


def row_object(selection: Selection) -> Callable[[Object], Object | None]:
    """What stands behind the rows of a table."""
    include = selection.request.query.get("includeObject", "")
    if include == "None":
        return lambda _: None
    if include == "Object":
        return lambda obj: selection.strategy.load(selection.resource, obj)
    return partial


def show_list(
    selection: Selection, page: list[Object], metadata: Object, form: Form, now: datetime
) -> Object:
    """Return the list in the form that was asked for. Raises StatusError 406."""
    resource = selection.resource
    if form.shown_as == TABLE:
        return table(resource, page, metadata, now, row_object(selection))
    filled = {key: value for key, value in metadata.items() if value != ""}
    if form.shown_as == PARTIAL_LIST:
        items = [partial(obj) for obj in page]
        return {
            "kind": PARTIAL_LIST,
            "apiVersion": "meta.k8s.io/v1",
            "metadata": filled,
            "items": items,
        }
    if form.shown_as:
        raise _wrong_form(form, f"*core.{resource.list_kind}")
    loaded = [selection.strategy.load(resource, obj) for obj in page]
    if not resource.custom:
        typed = {"kind", "apiVersion"}
        loaded = [{key: obj[key] for key in obj if key not in typed} for obj in loaded]
    head: dict[str, Value] = {"kind": resource.list_kind, "apiVersion": resource.api_version}
    return {**head, "metadata": metadata if resource.custom else filled, "items": loaded}


def show_object(selection: Selection, obj: Object, form: Form, now: datetime) -> Object:
    """Return one object (as this version shows it) in the form that was asked for."""
    resource = selection.resource
    if form.shown_as == TABLE:
        stored = selection.strategy.save(resource, obj)
        metadata = {"resourceVersion": obj["metadata"].get("resourceVersion")}
        return table(resource, [stored], metadata, now, row_object(selection))
    if form.shown_as == PARTIAL:
        return partial(obj)
    if form.shown_as:
        raise _wrong_form(form, f"*core.{resource.kind}")
    return obj


def _wrong_form(form: Form, shown: str) -> errors.StatusError:
    what = LIST_BESIDE_OBJECT[form.shown_as]
    return errors.not_acceptable(
        f"you requested {form.shown_as}, but the requested object is {what} ({shown})"
    )
