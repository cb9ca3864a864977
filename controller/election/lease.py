"""The Lease that decides which replica works: its record, and how it is read and written."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.parse import quote

from informers.errors import StatusError, StatusKind, UnexpectedAnswer
from informers.objects import Object, resource_version_of

RELEASED_SECONDS: Final = 1
"""Duration in a released Lease, as client-go writes it: the server does not take 0."""


class LeaseClient(Protocol):
    """What is needed of a REST client; raises ApiFailure. Its User-Agent should be its own."""

    def get(self, path: str, *, timeout: float) -> Object:
        """GET."""
        ...

    def post(self, path: str, body: Object, *, timeout: float) -> Object:
        """POST."""
        ...

    def put(self, path: str, body: Object, *, timeout: float) -> Object:
        """PUT."""
        ...


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """What a Lease says. Times are text: they are never compared with a clock, only for change."""

    holder: str
    duration: int
    acquire_time: str
    renew_time: str
    transitions: int

    @property
    def released(self) -> bool:
        """Whether a holder gave it back; an empty holder alone may be anybody's edit."""
        return not self.holder and self.duration == RELEASED_SECONDS

    def spec(self) -> Object:
        """The record as it goes into `spec`."""
        return {
            "holderIdentity": self.holder,
            "leaseDurationSeconds": self.duration,
            "acquireTime": self.acquire_time,
            "renewTime": self.renew_time,
            "leaseTransitions": self.transitions,
        }


@dataclass(frozen=True, slots=True)
class Lease:
    """A Lease as the server gave it, and its record."""

    raw: Object
    record: LeaseRecord


class LeaseLock:
    """One named Lease. One thread at a time.

    Every update carries the resourceVersion of the Lease that it is computed from, so that of two
    candidates one is refused. All methods raise ApiFailure; an answer that does not show what was
    written is UnexpectedAnswer.
    """

    def __init__(self, client: LeaseClient, namespace: str, name: str) -> None:
        self.namespace = namespace
        self.name = name
        self._client = client
        self._collection = f"/apis/coordination.k8s.io/v1/namespaces/{quote(namespace)}/leases"
        self._path = f"{self._collection}/{quote(name)}"

    def __str__(self) -> str:
        return f"Lease {self.namespace}/{self.name}"

    def get(self, timeout: float) -> Lease | None:
        """The Lease now; None if there is none."""
        try:
            return _lease_of(self._client.get(self._path, timeout=timeout))
        except StatusError as error:
            if error.kind is StatusKind.NOT_FOUND:
                return None
            raise

    def write(self, old: Lease | None, record: LeaseRecord, timeout: float) -> Lease:
        """Put `record` in the place of `old`, or into a new Lease if there is none."""
        if old is None:
            body = {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"namespace": self.namespace, "name": self.name},
                "spec": record.spec(),
            }
            answer = self._client.post(self._collection, body, timeout=timeout)
        else:
            # What others put into the Lease stays.
            body = {**old.raw, "spec": {**_mapping(old.raw.get("spec")), **record.spec()}}
            answer = self._client.put(self._path, body, timeout=timeout)
        lease = _lease_of(answer)
        if lease.record != record:
            msg = f"{self}: the answer to a write does not show what was written"
            raise UnexpectedAnswer(msg)
        return lease


def _lease_of(raw: Object) -> Lease:
    if not resource_version_of(raw):
        msg = "a Lease without a resourceVersion"
        raise UnexpectedAnswer(msg)
    return Lease(raw, _record_of(_mapping(raw.get("spec"))))


def _record_of(spec: Mapping[str, Any]) -> LeaseRecord:
    """The record, whatever somebody wrote into the Lease: what is not of its type is absent."""
    return LeaseRecord(
        holder=_text(spec.get("holderIdentity")),
        duration=_number(spec.get("leaseDurationSeconds")),
        acquire_time=_text(spec.get("acquireTime")),
        renew_time=_text(spec.get("renewTime")),
        transitions=_number(spec.get("leaseTransitions")),
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def micro_time(moment: datetime.datetime) -> str:
    """A time as Leases and events want it: with exactly six decimals, else 422 or 400."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
