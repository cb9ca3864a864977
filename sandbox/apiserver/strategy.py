"""What a kind does by itself on a write: defaults, validation, how it is stored and selected."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from sandbox.apiserver import metadata, validation
from sandbox.apiserver.errors import (
    Cause,
    DecodeError,
    StatusError,
    forbidden_value,
    invalid,
    invalid_value,
    quote,
    required,
)
from sandbox.apiserver.objects import Object, Value, with_metadata
from sandbox.apiserver.resources import Resource

DATA_KEY = re.compile(r"[-._a-zA-Z0-9]+", re.ASCII)
BAD_DATA_KEY = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)", re.ASCII)
LAYOUT = "2006-01-02T15:04:05.000000Z07:00"


class Strategy:
    """A built-in kind of which nothing is special. Has no state; any thread."""

    allows_blind_update = True  # a PUT without resourceVersion
    creates_on_update = False
    label_name = False
    deletion_finalizers: tuple[str, ...] = ()  # what holds each object when it is deleted

    def decode(self, obj: Object) -> Object:
        """Return the object that a body means. Raises DecodeError."""
        return obj

    def prepare(self, new: Object, old: Object | None) -> Object:  # noqa: ARG002
        """Return the object with what the kind fills in."""
        return new

    def validate(self, resource: Resource, new: Object, old: Object | None) -> list[Cause]:
        """All that is wrong with a new object, or with one that was `old` before."""
        del resource
        causes = (
            metadata.validate(new, label=self.label_name)
            if old is None
            else metadata.validate_update(new, old, custom=False, label=self.label_name)
        )
        return [*causes, *self.check(new, old)]

    def check(self, new: Object, old: Object | None) -> Iterator[Cause]:
        """What is wrong besides the metadata."""
        del new, old
        yield from ()

    def invalid(self, resource: Resource, name: str, causes: list[Cause]) -> StatusError:
        """Return the refusal of an object with causes."""
        return invalid(resource.kind, resource.group, name, causes)

    def load(self, resource: Resource, stored: Object) -> Object:  # noqa: ARG002
        """Return a stored object as this version shows it."""
        return stored

    def save(self, resource: Resource, obj: Object) -> Object:  # noqa: ARG002
        """Return an object of this version as it is stored."""
        return obj

    def selectable(self, obj: Object) -> dict[str, str]:
        """The fields that a fieldSelector can name."""
        meta = obj["metadata"]
        return {
            "metadata.name": meta.get("name", ""),
            "metadata.namespace": meta.get("namespace", ""),
        }


class CustomStrategy(Strategy):
    """The kinds of CRDs: what the schema says."""

    allows_blind_update = False

    def validate(self, resource: Resource, new: Object, old: Object | None) -> list[Cause]:
        """See Strategy."""
        if old is None:
            causes = metadata.validate(new)
        else:
            causes = metadata.validate_update(new, old, custom=True)
        return validation.validate(resource.schema, new, old, causes)


class BlindlessStrategy(Strategy):
    """Kinds whose PUT needs a resourceVersion."""

    allows_blind_update = False


class SecretStrategy(Strategy):
    """Secrets: stringData, base64, immutability."""

    def decode(self, obj: Object) -> Object:
        """See Strategy."""
        data = dict(obj.get("data") or {})
        for key, value in data.items():
            _check_base64(value or "")
            data[key] = value or ""
        for key, value in (obj.get("stringData") or {}).items():
            data[key] = base64.b64encode(value.encode()).decode()
        decoded = {key: value for key, value in obj.items() if key not in {"stringData", "data"}}
        return {**decoded, "data": data} if data else decoded

    def check(self, new: Object, old: Object | None) -> Iterator[Cause]:
        """See Strategy."""
        for key in new.get("data", {}):
            if not DATA_KEY.fullmatch(key):
                yield invalid_value(f"data[{key}]", key, BAD_DATA_KEY)
        if old is None:
            return
        if new.get("type") != old.get("type"):
            yield invalid_value("type", new.get("type"), "field is immutable")
        if old.get("immutable"):
            for field in ("immutable", "data"):
                if new.get(field) != old.get(field):
                    yield forbidden_value(field, "field is immutable when `immutable` is set")

    def selectable(self, obj: Object) -> dict[str, str]:
        """See Strategy."""
        return {**super().selectable(obj), "type": obj.get("type", "")}


def _check_base64(text: str) -> None:
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error:
        at = re.match(r"[A-Za-z0-9+/]*", text)
        position = at.end() if at else 0
        message = f"illegal base64 data at input byte {position}"
        raise DecodeError(message) from None


class NamespaceStrategy(Strategy):
    """Namespaces: their own label, the finalizer of the server, the phase."""

    label_name = True

    def prepare(self, new: Object, old: Object | None) -> Object:
        """See Strategy."""
        name = new["metadata"].get("name", "")
        labels = {**new["metadata"].get("labels", {}), "kubernetes.io/metadata.name": name}
        spec = {"finalizers": ["kubernetes"]} if old is None else old["spec"]
        status = {"phase": "Active"} if old is None else new["status"]
        return {**with_metadata(new, labels=labels), "spec": spec, "status": status}


class LeaseStrategy(BlindlessStrategy):
    """Leases: the lock of leader election."""

    creates_on_update = True

    def decode(self, obj: Object) -> Object:
        """See Strategy."""
        check_micro_times(obj["spec"].get("acquireTime"), obj["spec"].get("renewTime"))
        return obj

    def check(self, new: Object, old: Object | None) -> Iterator[Cause]:
        """See Strategy."""
        del old
        for name, least, said in (
            ("leaseDurationSeconds", 1, "must be greater than 0"),
            ("leaseTransitions", 0, "must be greater than or equal to 0"),
        ):
            number = new["spec"].get(name, least)
            if number < least:
                yield invalid_value(f"spec.{name}", number, said)


def check_micro_times(*values: Value) -> None:
    """Raises DecodeError for what is no time with six decimals, as the parser of Go does."""
    for value in values:
        if value is None or (isinstance(value, str) and MICRO_TIME.fullmatch(value)):
            continue
        text = str(value)
        is_short = re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", text) is not None
        rest, wanted = (text[19:], ".000000") if is_short else (text, "2006")
        raise DecodeError(
            f'parsing time {quote(text)} as "{LAYOUT}": cannot parse {quote(rest)} as "{wanted}"'
        )


# events.k8s.io/v1, as events are stored → core/v1
CORE_NAMES = {
    "regarding": "involvedObject",
    "note": "message",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "reportingController": "reportingComponent",
}
EVENT_NAMES = {core: event for event, core in CORE_NAMES.items()}
IMMUTABLE = (*CORE_NAMES, "reason", "type", "eventTime", "action", "related", "reportingInstance")


def _renamed(obj: Object, names: dict[str, str]) -> Object:
    return {names.get(key, key): value for key, value in obj.items()}


class EventStrategy(Strategy):
    """Events, one object under two groups."""

    creates_on_update = True

    def decode(self, obj: Object) -> Object:
        """See Strategy."""
        check_micro_times(obj.get("eventTime"), obj.get("series", {}).get("lastObservedTime"))
        return obj

    def load(self, resource: Resource, stored: Object) -> Object:
        """See Strategy."""
        if resource.group:
            return stored
        blank = {"reportingComponent": "", "reportingInstance": ""}
        return {**blank, **_renamed(stored, CORE_NAMES), "apiVersion": "v1"}

    def save(self, resource: Resource, obj: Object) -> Object:
        """See Strategy."""
        if resource.group:
            return obj
        stored = {**_renamed(obj, EVENT_NAMES), "apiVersion": "events.k8s.io/v1"}
        return {key: value for key, value in stored.items() if value != ""}

    def invalid(self, resource: Resource, name: str, causes: list[Cause]) -> StatusError:
        """See Strategy."""
        return invalid(resource.kind, "", name, causes)

    def check(self, new: Object, old: Object | None) -> Iterator[Cause]:
        """See Strategy."""
        is_core = "involvedObject" in new
        event = _renamed(new, EVENT_NAMES)
        own: str = event["metadata"].get("namespace", "")
        regarded: str = event["regarding"].get("namespace", "")
        if (is_core or not regarded) and regarded != ("" if own == "default" else own):
            message = "does not match event.namespace"
            yield invalid_value("involvedObject.namespace", regarded, message)
        if old is not None:
            yield from _changed_event(event, _renamed(old, EVENT_NAMES))
        elif not is_core:
            yield from _new_event(event)

    def selectable(self, obj: Object) -> dict[str, str]:
        """See Strategy."""
        fields = super().selectable(obj)
        event = _renamed(obj, EVENT_NAMES)
        for key in (
            "kind",
            "namespace",
            "name",
            "uid",
            "apiVersion",
            "resourceVersion",
            "fieldPath",
        ):
            value = event["regarding"].get(key, "")
            fields[f"involvedObject.{key}"] = fields[f"regarding.{key}"] = value
        for key in ("reason", "type", "reportingController"):
            fields[key] = event.get(key, "")
        fields["source"] = event.get("deprecatedSource", {}).get("component", "")
        return fields


def _changed_event(event: Object, old: Object) -> Iterator[Cause]:
    for name in IMMUTABLE:
        if event.get(name) != old.get(name):
            field = CORE_NAMES.get(name, name)
            yield invalid_value(field, event.get(name, ""), "field is immutable")


def _new_event(event: Object) -> Iterator[Cause]:
    if event.get("eventTime") is None:
        yield required("eventTime")
    else:
        yield from _reporter(event)
        for name in ("action", "reason"):
            yield from _limited(name, event.get(name, ""), 128, needed=True)
        yield from _limited("message", event.get("note", ""), 1024)
    if event.get("type", "") not in {"Normal", "Warning"}:
        yield invalid_value("type", "", f"has invalid value: {event.get('type', '')}")
    yield from _unset_fields(event)


def _reporter(event: Object) -> Iterator[Cause]:
    controller = event.get("reportingController", "")
    if not controller:
        yield required("reportingController")
    for problem in metadata.qualified_name_problems(controller):
        yield invalid_value("reportingController", controller, problem)
    yield from _limited("reportingInstance", event.get("reportingInstance", ""), 128, needed=True)


def _limited(field: str, value: str, limit: int, *, needed: bool = False) -> Iterator[Cause]:
    if needed and not value:
        yield required(field)
    if len(value) > limit:
        yield invalid_value(field, "", f"can have at most {limit} characters")


def _unset_fields(event: Object) -> Iterator[Cause]:
    if "series" in event and event["series"].get("count", 0) < 2:
        yield invalid_value("series.count", "", "should be at least 2")
    for name in (
        "deprecatedFirstTimestamp",
        "deprecatedLastTimestamp",
        "deprecatedCount",
        "deprecatedSource",
    ):
        if event.get(name):
            yield invalid_value(CORE_NAMES[name], "", "needs to be unset")


STRATEGIES: dict[str, Strategy] = {
    "namespaces": NamespaceStrategy(),
    "secrets": SecretStrategy(),
    "events": EventStrategy(),
    "events.events.k8s.io": EventStrategy(),
    "leases.coordination.k8s.io": LeaseStrategy(),
}
CUSTOM = CustomStrategy()
PLAIN = BlindlessStrategy()


def strategy_of(resource: Resource) -> Strategy:
    """What stands behind a resource."""
    return CUSTOM if resource.custom else STRATEGIES.get(resource.qualified, PLAIN)
