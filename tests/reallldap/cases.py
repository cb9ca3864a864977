"""The main cases, as they go on any lldap; each yields what was seen, step by step."""

from collections.abc import Iterator
from typing import Final

from controller.configuration.values import Adoption
from lldap.opaque import Version
from tests.reallldap.bed import LldapAdmin
from tests.reallldap.limits import limits, names
from tests.reallldap.seen import Case, Seen, calls, managed, shown, stood
from tests.support.accounts import attributes, register_in
from tests.support.bed import Bed
from tests.support.examples import OPERATOR_NAMESPACE, documents, path_of
from tests.support.groups import VIRTUAL

FIRST, SECOND, THIRD = b"the first password", b"the second password", b"the third password"


def a_user_with_everything(bed: Bed) -> Iterator[Seen]:
    bed.schema("cost-center", kind="Integer")
    bed.schema("moment", kind="DateTime")
    bed.schema("aliases", isList=True)
    bed.secret("pw", FIRST)
    values = attributes(
        COST_CENTER=["007"], moment=["2024-05-01T12:00:00.500+02:00"], aliases=["b", "a", "b"]
    )
    spec = {"displayName": "Žofie 王 😀", "firstName": "Al", "lastName": "Smith"}
    managed(
        bed, "Alice.Smith", object="alice", email="Alice@Example.org", attributes=values, **spec
    )
    bed.run(40)
    yield "created", shown(bed, ("LldapUser", "alice"))
    yield "calls", calls(bed)
    yield "directory", stood(bed)
    yield "login", bed.login("alice.smith", FIRST.decode())
    bed.run(1400, step=200)
    yield "two resyncs", calls(bed)
    values = attributes(aliases=[])
    managed(bed, "Alice.Smith", object="alice", email="ALICE@example.org", attributes=values)
    bed.run(5)
    yield "dropped", shown(bed, ("LldapUser", "alice"))
    yield "calls", calls(bed)
    yield "directory", stood(bed)
    bed.run(1400, step=200)
    yield "two resyncs", calls(bed)
    bed.delete("LldapUser", "alice")
    bed.run(5)
    yield "deleted", [bed.exists("LldapUser", "alice"), calls(bed)]


def values_that_lldap_refuses(bed: Bed) -> Iterator[Seen]:
    bed.schema("number", kind="Integer")
    bed.schema("day", kind="DateTime")
    bed.schema("text")
    bed.run(3)
    wrong = {
        "huge": attributes(number=["9223372036854775808"]),
        "word": attributes(number=["1e3"]),
        "date": attributes(day=["2024-05-01"]),
        "none": attributes(text=[]),
        "two": attributes(text=["a", "b"]),
    }
    for name, values in wrong.items():
        bed.user(name, attributes=values)
    bed.run(20)
    yield "refused", shown(bed, *(("LldapUser", name) for name in wrong))
    yield "calls", calls(bed)
    for name in wrong:
        bed.user(name, attributes=attributes(text=[""]))
    bed.run(5)
    yield "corrected", shown(bed, *(("LldapUser", name) for name in wrong))
    yield "calls", calls(bed)


def renames(bed: Bed) -> Iterator[Seen]:
    def named(display_name: str) -> None:
        bed.apply("LldapGroup", "team", {"displayName": display_name})

    bed.user("alice")
    named("Team")
    bed.membership("alice", "Team", name="old")
    bed.run(5)
    yield "made", calls(bed)
    for name in ("TEAM", "Crew Ω", "crew ω", "Team"):
        named(name)
        bed.run(15)
        yield name, shown(bed, ("LldapGroup", "team"), ("LldapMembership", "old"))
        yield "calls", calls(bed)
    yield "directory", stood(bed)
    LldapAdmin(bed).make_group("Taken")
    named("taken")
    bed.run(5)
    yield "taken", shown(bed, ("LldapGroup", "team"))
    yield "calls", calls(bed)
    for kind, name in (("LldapMembership", "old"), ("LldapGroup", "team")):
        bed.delete(kind, name)
        bed.run(5)  # of both at once either may be first: then the edge goes with its group
    yield "deleted", [calls(bed), stood(bed)]


def conflicts(bed: Bed) -> Iterator[Seen]:
    bed.user("first", email="straße@example.org")
    bed.run(2)
    bed.user("second", email="STRASSE@example.org")
    bed.user("third", email="Straße@Example.org")
    bed.user("FIRST", object="fourth", email="other@example.org")
    bed.run(20)
    names = [("LldapUser", name) for name in ("first", "second", "third", "fourth")]
    yield "e-mails and ids", shown(bed, *names)
    yield "refused at", [op for op in calls(bed) if op.startswith("add")]
    bed.user("first", email="free@example.org")
    bed.run(5)
    yield "freed", shown(bed, *names)
    yield "directory", stood(bed)


def adoption(bed: Bed) -> Iterator[Seen]:
    admin = LldapAdmin(bed)
    for name in ("plain", "reader", "boss"):
        admin.make_user(name)
    readers = next(
        group["id"]
        for group in admin.ask("{groups {id displayName}}")["groups"]
        if group["displayName"] == "lldap_strict_readonly"
    )
    admin.add("reader", readers)
    admin.make_group("empty")
    admin.make_group("full", "boss")
    bed.start()  # its bulk read knows them all
    for name in ("plain", "reader"):
        bed.user(name, displayName="Taken")
    for name in ("empty", "full"):
        bed.group(name)
    bed.run(5)
    objects = [("LldapUser", "plain"), ("LldapUser", "reader")]
    objects += [("LldapGroup", "empty"), ("LldapGroup", "full")]
    yield "taken or not", shown(bed, *objects)
    yield "calls", calls(bed)
    for kind, name in objects:
        bed.delete(kind, name)
    bed.run(5)
    yield "calls", calls(bed)
    yield "directory", stood(bed)
    bed.start(rules={"adoption": Adoption.NEVER})
    bed.user("plain")
    bed.run(5)
    yield "never", shown(bed, ("LldapUser", "plain"))
    invitation = [{"name": "kubernetes-owner", "value": ["invite default team-a/plain"]}]
    yield "invited", admin.update_user("plain", insertAttributes=invitation)
    bed.run(700, step=100)
    yield "then", shown(bed, ("LldapUser", "plain"))


def passwords(bed: Bed) -> Iterator[Seen]:
    bed.secret("pw", FIRST)
    for name, policy in (("managed", "Manage"), ("initial", "InitialOnly")):
        managed(bed, name, policy)
    bed.user("ignored")
    bed.run(5)
    names = [("LldapUser", name) for name in ("managed", "initial", "ignored")]
    yield "made", shown(bed, *names)
    yield "calls", calls(bed)
    yield "logins", [bed.login(name, FIRST.decode()) for _, name in names]
    for _, name in names:
        register_in(bed, Version.V0_7 if _speaks_new(bed) else Version.V4_0, name, SECOND)
    bed.run(1400, step=200)
    yield "after a drift", calls(bed)
    yield "logins", [bed.login(name, FIRST.decode()) for _, name in names]
    yield "logins of their own", [bed.login(name, SECOND.decode()) for _, name in names]
    bed.secret("pw", THIRD)
    bed.run(5)
    yield "rotated", calls(bed)
    yield "logins", [bed.login(name, THIRD.decode()) for _, name in names]
    bed.start()
    bed.run(700, step=100)
    yield "after a restart and a resync", calls(bed)


def _speaks_new(bed: Bed) -> bool:
    """Whether the server knows the endpoint that only the newer protocol has."""
    answer = bed.lldap.handle("POST", "/auth/opaque/v07/login/start", {}, b"")
    return answer.status == 404


def a_mark_that_its_own_user_removes(bed: Bed) -> Iterator[Seen]:
    bed.secret("pw", FIRST)
    managed(bed, "alice")
    bed.run(5)
    calls(bed)
    own = LldapAdmin(bed, "alice", FIRST.decode())
    yield "removes", own.update_user("alice", removeAttributes=["kubernetes-owner"])
    mark = [{"name": "kubernetes-owner", "value": ["created x y z"]}]
    yield "sets", own.update_user("alice", insertAttributes=mark)
    yield "gone", "kubernetes-owner" in str(stood(bed)["users"])
    bed.run(700, step=100)
    yield "put back", calls(bed)
    yield "told", "MarkRestored" in bed.events.reasons()
    yield "there", shown(bed, ("LldapUser", "alice"))


def deleted_by_hand(bed: Bed) -> Iterator[Seen]:
    bed.secret("pw", FIRST)
    managed(bed, "alice")
    bed.group("Team")
    bed.membership("alice", "Team")
    bed.run(5)
    calls(bed)
    yield "deleted", LldapAdmin(bed).delete_user("alice")
    bed.run(700, step=100)
    yield "calls", calls(bed)
    yield "there", shown(bed, ("LldapUser", "alice"), ("LldapMembership", "alice-team"))
    yield "login", bed.login("alice", FIRST.decode())


def attributes_of_lldap(bed: Bed) -> Iterator[Seen]:
    bed.schema("badge", deletionPolicy="Delete")
    bed.schema("Room", isList=True, kind="Integer", deletionPolicy="Delete")
    bed.run(3)
    yield "added", calls(bed)
    yield "directory", stood(bed)
    bed.user("alice", attributes=attributes(badge=["x"]))
    bed.run(3)
    bed.delete("LldapAttributeSchema", "user-badge")
    bed.delete("LldapAttributeSchema", "user-room")
    bed.run(5)
    yield "held", shown(bed, ("LldapAttributeSchema", "user-badge"))
    yield "gone", bed.exists("LldapAttributeSchema", "user-room")
    bed.user("alice")
    bed.run(15)
    yield "gone", bed.exists("LldapAttributeSchema", "user-badge")
    yield "calls", calls(bed)
    yield "directory", stood(bed)


def built_in_groups(bed: Bed) -> Iterator[Seen]:
    bed.user("root", VIRTUAL)
    bed.user("mallory")
    bed.membership("root", "lldap_admin", VIRTUAL)
    bed.membership("mallory", "LLDAP_Admin", name="up")
    bed.run(15)
    yield "made", bed.ready("LldapMembership", "root-lldap-admin", VIRTUAL)
    yield "refused", shown(bed, ("LldapMembership", "up"))
    yield "directory", stood(bed)
    bed.delete("LldapMembership", "root-lldap-admin", VIRTUAL)
    bed.run(3)
    bed.delete("LldapUser", "root", VIRTUAL)
    bed.run(5)
    yield "calls", calls(bed)
    yield "directory", stood(bed)


def a_restore_from_a_backup(bed: Bed) -> Iterator[Seen]:
    """The objects come back without status and with other uids; lldap stays as it is."""
    bed.secret("pw", FIRST)
    LldapAdmin(bed).make_user("adopted")

    def apply() -> None:
        managed(bed, "alice", displayName="Al")
        managed(bed, "initial", "InitialOnly")
        bed.user("adopted")
        bed.group("Team")
        bed.membership("alice", "Team")

    objects = [("LldapUser", name) for name in ("alice", "initial", "adopted")]
    objects += [("LldapGroup", "team"), ("LldapMembership", "alice-team")]
    bed.start()
    apply()
    bed.run(15)
    yield "made", [shown(bed, *objects), calls(bed)]
    before, ids = stood(bed), LldapAdmin(bed).identities()
    for kind, name in objects:  # as an etcd that is lost: the operator is told of nothing
        path = bed.path(kind, "team-a", name)
        without = {"metadata": {"finalizers": None}}
        bed.admin.patch(path, without, content_type="application/merge-patch+json")
        bed.delete(kind, name)
    apply()
    bed.start()
    bed.run(15)
    yield "restored", [shown(bed, *objects), calls(bed)]
    yield "as before", [stood(bed) == before, LldapAdmin(bed).identities() == ids]
    origins = {name: bed.get(kind, name)["status"].get("origin") for kind, name in objects}
    yield "origins", origins
    yield "login", bed.login("alice", FIRST.decode())


def examples(bed: Bed) -> Iterator[Seen]:
    """The example manifests, applied and deleted in both orders."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OPERATOR_NAMESPACE}}
    bed.admin.post("/api/v1/namespaces", body)
    bed.start(
        own_namespace=OPERATOR_NAMESPACE, rules={"virtual_group_namespace": OPERATOR_NAMESPACE}
    )
    for found in (documents(), documents()[::-1]):
        for each in found:
            bed.admin.patch(
                path_of(each),
                each,
                content_type="application/apply-patch+yaml",
                field_manager="person",
                force=True,
            )
        bed.run(45)
        objects = [each for each in found if each["kind"] != "Secret"]
        yield (
            "made",
            [
                bed.ready(each["kind"], each["metadata"]["name"], each["metadata"]["namespace"])
                for each in objects
            ],
        )
        yield "directory", stood(bed)
        calls(bed)
        bed.run(700, step=100)
        yield "settled", calls(bed)
        for each in found:
            bed.admin.delete(path_of(each))
        bed.run(45)
        yield "left", stood(bed)


CASES: Final[dict[str, Case]] = {
    case.__name__: case
    for case in (
        a_user_with_everything,
        values_that_lldap_refuses,
        renames,
        conflicts,
        adoption,
        passwords,
        a_mark_that_its_own_user_removes,
        deleted_by_hand,
        attributes_of_lldap,
        built_in_groups,
        a_restore_from_a_backup,
        examples,
        limits,
        names,
    )
}
