"""The attribute that holds the mark, on users and on groups of lldap."""

import threading

from controller.api import MARK_ATTRIBUTE
from controller.harness.reasoned import fail
from controller.harness.reasons import Reason
from lldap import AttributeSchema, AttributeType, Client, LldapError, Mirror, Target

# People neither see nor edit it. They can remove it from themselves, which the seal answers.
SHAPE = AttributeSchema(name=MARK_ATTRIBUTE, attribute_type=AttributeType.STRING)


class MarkAttribute:
    """Makes sure that the attribute is there before anything is written. Any thread."""

    def __init__(self, client: Client, mirror: Mirror) -> None:
        self._client = client
        self._mirror = mirror
        self._lock = threading.Lock()  # one thread adds it, the others wait for that

    def ensure(self) -> None:
        """Add what is missing.

        Raises ReasonedError UnsupportedServer where one of another shape is in the way, and what
        lldap raises.
        """
        if self._present():
            return
        with self._lock:
            missing = [target for target in Target if not self._is_on(target)]
            for target in missing:
                self._add(target)

    def _present(self) -> bool:
        return all(self._mirror.attribute(target, MARK_ATTRIBUTE) == SHAPE for target in Target)

    def _is_on(self, target: Target) -> bool:
        """Whether the target has it; raises UnsupportedServer for one of another shape."""
        live = self._mirror.attribute(target, MARK_ATTRIBUTE)
        if live not in {None, SHAPE}:
            raise fail(
                Reason.UNSUPPORTED_SERVER,
                f"lldap has an attribute {MARK_ATTRIBUTE} of {target.name.lower()}s that is not a "
                "single String, neither visible nor editable: the operator cannot mark what it "
                "manages. Delete that attribute in lldap",
            )
        return live is not None

    def _add(self, target: Target) -> None:
        live = SHAPE
        try:
            self._client.add_attribute(target, SHAPE)
        except LldapError:
            found = self._client.schema().of(target).get(MARK_ATTRIBUTE)
            if found is None:
                raise
            live = found
        self._mirror.put_attribute(target, live)
        self._is_on(target)
