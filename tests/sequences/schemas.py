"""Any sequence of LldapAttributeSchemas, of what uses them, and of what is done by hand.

An attribute can only be made and deleted, so the sequence is of objects: each write of the operator
is judged as it is made, and in the end every object is Ready exactly when lldap has what it says.
"""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from informers import StatusError
from tests.faults.bed import FaultBed
from tests.faults.stores import Object, deleting
from tests.faults.truth import untruths
from tests.sequences.values import POLICIES, Spec
from tests.support.machine import BedMachine

KIND = "LldapAttributeSchema"
ATTRIBUTES = st.sampled_from(("room", "ROOM", "size"))
OBJECTS = st.sampled_from(("one", "two", "three"))
NAMESPACES = st.sampled_from(("team-a", "team-b"))
_ANY = st.fixed_dictionaries(
    {
        "attributeName": ATTRIBUTES,
        "attributeType": st.sampled_from(("String", "String", "Integer", "DateTime", "JpegPhoto")),
        "target": st.sampled_from(("User", "User", "Group")),
    },
    optional={
        "isList": st.booleans(),
        "isVisible": st.booleans(),
        "isEditable": st.booleans(),
        "deletionPolicy": st.sampled_from(("Delete", "Delete", "Retain")),
    },
)
ROOM = {
    "attributeName": "room",
    "attributeType": "String",
    "target": "User",
    "deletionPolicy": "Delete",
}
SPECS = st.one_of(st.just(ROOM), _ANY)  # often the same
AT_ONCE = st.sampled_from((True, True, False))  # whether the operator works before what is next
# Refused by the API server: a name that lldap or the operator has, or that is none; no enum's word.
BAD = st.sampled_from(
    (
        {"attributeName": "mail"},
        {"attributeName": "Kubernetes-Owner"},
        {"attributeName": "a b"},
        {"attributeName": ""},
        {"attributeName": None},
        {"attributeType": "Text"},
        {"target": "Users"},
        {"isList": "yes"},
        {"deletionPolicy": "Maybe"},
    )
)
REFUSED = {422, 500}  # a real server, too, says 500 when a value of the wrong type is applied
READY = "True"


class Schemas(BedMachine):
    """One operator from beginning to end, or several one after the other."""

    bed: FaultBed

    def __init__(self) -> None:
        super().__init__()
        self.bed = FaultBed()
        self.held: dict[tuple[str, str], str] = {}  # the uids of who had which attribute
        self.bed.directory.make_user("stranger")
        self.bed.schema("room", deletionPolicy="Delete")
        self.bed.schema("size", target="Group", deletionPolicy="Delete")
        self.bed.user("alice", attributes=[{"name": "room", "value": ["7"]}])
        self.bed.group("staff")
        self.bed.settle()

    def _all(self) -> list[Object]:
        return self.bed.safety.stores.objects(KIND)

    # --- what people do ------------------------------------------------------------------

    @rule(key=OBJECTS, namespace=NAMESPACES, spec=SPECS, at_once=AT_ONCE)
    def declare(self, key: str, namespace: str, spec: Spec, at_once: bool) -> None:
        """An object that is there takes no other shape: the API server refuses that."""
        self.bed.clock.advance(1.0)  # of two of one second nobody knows which is the older
        self._apply(key, spec, namespace)
        self._work(at_once)

    @rule(key=OBJECTS, wrong=BAD)
    def declare_nonsense(self, key: str, wrong: Spec) -> None:
        good = {"attributeName": "room", "attributeType": "String", "target": "User"}
        before = self._all()
        assert not self._apply(key, {**good, **wrong}, "team-a")
        assert self._all() == before

    def _apply(self, key: str, spec: Spec, namespace: str) -> bool:
        found = self.bed.safety.stores.object(KIND, f"{namespace}/{key}")
        if found is not None and deleting(found):
            return False
        try:
            self.bed.apply(KIND, key, spec, namespace)
        except StatusError as error:
            if error.code not in REFUSED:
                raise
            return False
        return True

    @precondition(lambda self: self._all())
    @rule(data=st.data())
    def change_policy(self, data: st.DataObject) -> None:
        obj = self.chosen(data)
        spec = {k: v for k, v in obj["spec"].items() if k != "deletionPolicy"}
        metadata = obj["metadata"]
        self._apply(metadata["name"], {**spec, **data.draw(POLICIES)}, metadata["namespace"])

    @precondition(lambda self: self._all())
    @rule(data=st.data(), used=st.booleans(), at_once=AT_ONCE)
    def delete(self, data: st.DataObject, used: bool, at_once: bool) -> None:
        """Perhaps somebody has just set a value by hand, of which nobody knows."""
        if used:
            self.set_by_hand("room")
        metadata = self.chosen(data)["metadata"]
        self.bed.delete(KIND, metadata["name"], metadata["namespace"])
        self._work(at_once)

    def _work(self, at_once: bool) -> None:
        if at_once:
            self.bed.settle()
            self._stays_with_its_holder()

    def _stays_with_its_holder(self) -> None:
        """Who has an attribute has it until it is deleted, whoever else declares it."""
        living = {obj["metadata"]["uid"] for obj in self._all() if not deleting(obj)}
        for key, uids in self._holders().items():
            before = self.held.get(key)
            assert before not in living or before in uids, (key, before)
        self.held = {key: uids[0] for key, uids in self._holders().items()}

    def _holders(self) -> dict[tuple[str, str], list[str]]:
        """By target and name, the uids of the objects that are Ready."""
        found: dict[tuple[str, str], list[str]] = {}
        for obj in self._all():
            spec = obj["spec"]
            if self.state(obj)[0] == READY:
                key = (spec["target"], spec["attributeName"].lower())
                found.setdefault(key, []).append(obj["metadata"]["uid"])
        return found

    def chosen(self, data: st.DataObject) -> Object:
        found = sorted(self._all(), key=lambda each: str(each["metadata"]["uid"]))
        return found[data.draw(st.integers(0, len(found) - 1))]

    @rule(
        kind=st.sampled_from(("LldapUser", "LldapGroup")),
        names=st.lists(ATTRIBUTES, max_size=2, unique_by=str.lower),
        at_once=AT_ONCE,
    )
    def use(self, kind: str, names: list[str], at_once: bool) -> None:
        """An object names attributes, whether they are there or not."""
        values = [{"name": name, "value": ["7"]} for name in names]
        make: Any = self.bed.user if kind == "LldapUser" else self.bed.group
        make("alice" if kind == "LldapUser" else "staff", attributes=values)
        self._work(at_once)

    # --- what happens behind everybody's back ----------------------------------------------

    @rule(name=st.sampled_from(("room", "size")))
    def set_by_hand(self, name: str) -> None:
        with self.bed.lldap.database() as store:
            attribute = store.state.users.stored.get(name)
        if attribute is not None and attribute.kind == "STRING":
            self.bed.directory.set_attribute("stranger", name, "by hand")

    @rule()
    def clear_by_hand(self) -> None:
        with self.bed.lldap.database() as store:
            names = list(store.state.users.rows["stranger"].attributes)
            store.update(store.state.users, "stranger", columns={}, remove=names, insert={})

    # --- what must be true in the end ----------------------------------------------------------

    def teardown(self) -> None:
        self.rest(step=30.0, quiet_step=35.0)
        assert self.bed.safety.violations == []
        self.ready_is_true()
        self.each_attribute_has_one_holder_at_most()

    def ready_is_true(self) -> None:
        """Ready exactly when lldap has what the object says, unless another stands for it."""
        for obj in self._all():
            status, reason = self.state(obj)
            wrong = untruths(self.bed.safety.stores, {**obj, "kind": KIND})
            if status == READY:
                assert not wrong, (obj, wrong)
            elif not deleting(obj):
                assert wrong or reason == "Conflict", (obj, reason)

    def each_attribute_has_one_holder_at_most(self) -> None:
        assert all(len(uids) == 1 for uids in self._holders().values()), self._holders()

    def state(self, obj: Object) -> tuple[str, str]:
        metadata = obj["metadata"]
        return self.bed.ready(KIND, metadata["name"], metadata["namespace"])
