"""Whether a deletion is meant: an uninstall deletes objects too, and must empty nothing."""

import math
import threading
from collections.abc import Callable

from controller.api import Kind
from controller.harness.reasoned import ReasonedError, fail
from controller.harness.reasons import Reason
from controller.harness.resource import Object
from controller.kube import Kube
from informers import ApiFailure, StatusError, StatusKind

REMEMBERED_SECONDS = 10.0  # what is asked for every waiting deletion is asked that rarely


class UninstallGuard:
    """Tells an uninstall from deletions that are meant. Any thread."""

    def __init__(self, kube: Kube, namespace: str, monotonic: Callable[[], float]) -> None:
        self._kube = kube
        self._namespace = namespace
        self._monotonic = monotonic
        self._lock = threading.Lock()  # guards _asked
        self._asked: dict[str, tuple[float, bool]] = {}

    def lately(self, kind: Kind) -> bool:
        """Whether it was an uninstall a moment ago; False where nobody could say.

        For what need not wait for lldap in an uninstall. Before a deletion ask `uninstalling`.
        """
        now = self._monotonic()
        with self._lock:
            asked, answer = self._asked.get(kind.kind, (-math.inf, False))
        if now - asked < REMEMBERED_SECONDS:
            return answer
        try:
            answer = self.uninstalling(kind)
        except ReasonedError:
            answer = False
        with self._lock:
            self._asked[kind.kind] = now, answer
        return answer

    def uninstalling(self, kind: Kind) -> bool:
        """True: the CRD or the operator's namespace goes, so every deletion counts as Retain.

        Asked right before each deletion in lldap. Raises ReasonedError when the API server gave
        no clear answer: the deletion waits.
        """
        return self._definition_goes(kind) or self._namespace_goes()

    def _definition_goes(self, kind: Kind) -> bool:
        what = f"the CustomResourceDefinition {kind.crd_name}"
        try:
            definition = self._kube.custom_resource_definition(kind)
        except ApiFailure as error:
            if isinstance(error, StatusError) and error.kind is StatusKind.NOT_FOUND:
                return True
            raise self._unclear(what) from error
        return self._goes(definition, kind.crd_name, what)

    def _namespace_goes(self) -> bool:
        what = f"the namespace {self._namespace}"
        try:
            namespace = self._kube.namespace(self._namespace)
        except ApiFailure as error:
            raise self._unclear(what) from error
        return self._goes(namespace, self._namespace, what)

    def _goes(self, answer: Object, name: str, what: str) -> bool:
        """Whether it is being deleted; only an answer that is about it counts."""
        metadata = answer.get("metadata")
        if not isinstance(metadata, dict) or metadata.get("name") != name:
            raise self._unclear(what)
        return "deletionTimestamp" in metadata

    def _unclear(self, what: str) -> Exception:
        return fail(
            Reason.DELETING,
            f"nothing is deleted in lldap until the API server says whether {what} is being "
            "deleted: check the operator's rights to read it",
        )
