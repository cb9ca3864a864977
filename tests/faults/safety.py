"""What must hold at every step, whatever fails: looked at as each write of an operator is done."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import orjson

from controller.harness.outcome import Result
from controller.operator import Operator
from informers import Lister
from lldap.names import user_key
from sandbox.apiserver.transport import Call as ApiCall
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward
from tests.faults.points import Category, lldap_category
from tests.faults.rights import Rights, Write
from tests.faults.stores import Object, Stores, deleting
from tests.faults.truth import untruths

if TYPE_CHECKING:
    from tests.faults.bed import FaultBed

LOGGERS = ("controller", "informers", "lldap", "workqueue")


class Complaints(logging.Handler):
    """Errors in the operator's own log: nothing that a test does is unexpected."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        cause = record.exc_info[1] if record.exc_info else None
        self.seen.append(f"{record.getMessage()} {cause!r}" if cause else record.getMessage())

    @contextmanager
    def listening(self) -> Iterator[None]:
        loggers = [logging.getLogger(name) for name in LOGGERS]
        for logger in loggers:
            logger.addHandler(self)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeHandler(self)


class Safety:
    """Judges writes as they are carried out. One thread.

    `current` is the object whose pass is under way, as the API server had it when the pass began;
    where watches are behind, as the operator was told of it, for it cannot know better.
    """

    def __init__(self, bed: "FaultBed") -> None:
        self.violations: list[str] = []
        self.stores = Stores(bed)
        self.current: Object | None = None
        self.current_key = ("", "")
        self._bed = bed
        self._rights = Rights(bed, self.stores)
        self._landing = False
        self._disturbed = False  # since the operator has read all of lldap

    # --- who writes --------------------------------------------------------------------------

    def follow(self, operator: Operator) -> None:
        """Know which object each pass of this operator is about."""
        for controller in operator.pool._controllers:
            lister = operator.informers[controller.name].lister
            noting = self._noting(controller.name, lister, controller.reconcile)
            object.__setattr__(controller, "reconcile", noting)

    def _noting(self, kind: str, lister: Lister, reconcile: Any) -> Any:
        def noting(key: str) -> Result:
            before = self.current, self.current_key
            self.current = self._known(kind, key, lister.get(*key.split("/")))
            self.current_key = (kind, key)
            self._rights.registered.clear()
            self._rights.met_a_person = False
            try:
                result: Result = reconcile(key)
                return result
            finally:
                self.current, self.current_key = before

        return noting

    def _known(self, kind: str, key: str, told: Object | None) -> Object | None:
        now = self.stores.object(kind, key)
        goes = now is None and told is not None and deleting(told)  # nothing else can come of it
        if not self._bed.watches_are_behind and not goes:
            return None if now is None else {**now, "kind": kind}
        if told is None:
            return None
        same = now is not None and now["metadata"]["uid"] == told["metadata"]["uid"]
        status = (now or {}).get("status") if same else told.get("status")
        return {**told, "kind": kind, "status": status or {}}

    @contextmanager
    def disturbed(self) -> Iterator[None]:
        """Somebody else acts, or a call lands late: what the operator knows is older."""
        self._disturbed = self._rights.is_disturbed = True
        before, self._landing = self._landing, True
        try:
            yield
        finally:
            self._landing = before

    @contextmanager
    def person_acts(self) -> Iterator[None]:
        """A person acts, who may change also what no object may touch."""
        with self.disturbed():
            yield
        self._rights.met_a_person = True
        self._rights.unguard_changed()

    def guard(self, *users: str) -> None:
        """See Rights.guard."""
        self._rights.guard(*users)

    # --- lldap -------------------------------------------------------------------------------

    def judge_call(self, call: Call, forward: Forward) -> Response:
        """Look at a call of the operator, then let it be carried out."""
        if call.operation == "users" and b"groupSchema" in call.data:  # all of lldap
            self._disturbed = self._rights.is_disturbed = False
        if self._landing or lldap_category(call.operation) is not Category.LLDAP_WRITE:
            return forward(call)
        write = _write(call)
        wrongs = self._rights.wrongs(write, self.current)
        who = "/".join(self.current_key)
        self.violations += [f"{who}: {write}: {wrong}" for wrong in wrongs]
        response = forward(call)
        if write.operation.endswith("/register/finish") and self.current is not None:
            self._rights.registered.add(user_key(self.current["spec"]["username"]))
        self.violations += [f"{who}: {write}: {wrong}" for wrong in self._rights.damages()]
        return response

    # --- the API server ----------------------------------------------------------------------

    def judge_write(self, call: ApiCall, status: int) -> None:
        """Look at a status that was just written."""
        if status != 200 or call.method != "PATCH" or not call.path.endswith("/status"):
            return
        body = orjson.loads(call.body)
        conditions = (body.get("status") or {}).get("conditions") or []
        ready = next((c for c in conditions if c["type"] == "Ready"), None)
        if ready is None or ready["status"] != "True" or ready["reason"] == "DryRun":
            return
        metadata = body["metadata"]
        obj = self.stores.object(body["kind"], f"{metadata['namespace']}/{metadata['name']}")
        assert obj is not None
        generation = obj["metadata"]["generation"]
        if ready["observedGeneration"] > generation:
            self.violations.append(f"{call.path}: Ready for a generation that is not there yet")
        if ready["observedGeneration"] != generation or self._disturbed or self._landing:
            return
        wrongs = untruths(self.stores, {**obj, "kind": body["kind"]})
        self.violations += [f"{call.path}: Ready is True, but {wrong}" for wrong in wrongs]


def _write(call: Call) -> Write:
    body = orjson.loads(call.data)
    variables = body.get("variables") or body
    return Write(call.operation, variables)
