"""Manifests of drafts."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from controller.api import (
    API_VERSION,
    INSTANCE_LABEL,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    AttributeType,
    Kind,
    PasswordPolicy,
)
from controller.api import Target as ApiTarget
from controller.migrate.drafts import Attributes, Content, GroupDraft, Password, UserDraft
from controller.migrate.fit import fit
from controller.migrate.names import ObjectNames
from controller.migrate.place import Place
from controller.migrate.report import Report, counted, group_words, user_words
from controller.migrate.text import document, quoted
from lldap import AttributeSchema, Target
from lldap.names import BUILT_IN_GROUPS

SECRET: Final = "Secret"  # noqa: S105 - the name of a kind
PASSWORD_KEY: Final = "password"  # noqa: S105 - the name of a key
_FILL_IN: Final = f'Empty: put the password into its key "{PASSWORD_KEY}".'


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object. Its body may hold a password: it has no repr."""

    body: dict[str, Any]
    comment: str = ""

    def __repr__(self) -> str:
        return f"<Manifest {self.kind} {self.namespace}/{self.name}>"

    @property
    def kind(self) -> str:
        """The object's kind."""
        return str(self.body["kind"])

    @property
    def namespace(self) -> str:
        """The object's namespace."""
        return str(self.body["metadata"]["namespace"])

    @property
    def name(self) -> str:
        """The object's name."""
        return str(self.body["metadata"]["name"])

    @property
    def is_secret(self) -> bool:
        """Whether nobody else may read it."""
        return self.kind == SECRET

    def text(self) -> str:
        """The object as a YAML document."""
        return document(self.body, self.comment)


def manifests(content: Content, place: Place, report: Report) -> list[Manifest]:
    """The manifests of `content`, what others need first; always in the same order.

    The report learns what the API does not take.
    """
    return _Making(content, place, report).all()


class _Making:
    """One making of manifests; what could not be made is remembered for what refers to it."""

    def __init__(self, content: Content, place: Place, report: Report) -> None:
        self._content = content
        self._place = place
        self._report = report
        self._refused: set[tuple[Target, str]] = set()
        self._users = ObjectNames("user").give(content.users)
        unknown = {group for _, group in content.edges} - BUILT_IN_GROUPS
        self._groups = ObjectNames("group").give(unknown.union(content.groups))
        self._groups |= {name: name.replace("_", "-") for name in BUILT_IN_GROUPS}

    def all(self) -> list[Manifest]:
        schemas = list(self._schemas())
        groups = dict(self._group_manifests())
        users = dict(self._user_manifests())
        secrets = self._secrets(users)
        memberships = self._memberships(users, groups)
        parts = (schemas, secrets, groups.values(), users.values(), memberships)
        return [
            manifest
            for part in parts
            for manifest in sorted(part, key=lambda each: (each.namespace, each.name))
        ]

    # --- attributes ------------------------------------------------------------------------

    def _schemas(self) -> Iterator[Manifest]:
        for target, attributes in self._content.attributes.items():
            prefix = target.name.lower()
            names = ObjectNames(prefix).give(f"{prefix}-{name}" for name in attributes)
            for name, attribute in sorted(attributes.items()):
                manifest = self._schema(target, attribute, names[f"{prefix}-{name}"])
                if manifest is None:
                    self._refused.add((target, name))
                else:
                    yield manifest

    def _schema(self, target: Target, attribute: AttributeSchema, name: str) -> Manifest | None:
        words = self._attribute_words(target, attribute.name)
        other = Target.GROUP if target is Target.USER else Target.USER
        twin = self._content.attributes.get(other, {}).get(attribute.name)
        if twin is not None and twin.attribute_type is not attribute.attribute_type:
            self._report.left_out(
                words,
                f"{other.name.lower()}s have an attribute of this name and of another type, which "
                "lldap's LDAP side cannot tell apart: make one of another name",
            )
            return None
        spec = {
            "attributeName": attribute.name,
            "attributeType": AttributeType[attribute.attribute_type.name].value,
            "target": ApiTarget[target.name].value,
            "isList": attribute.is_list,
            "isVisible": attribute.is_visible,
            "isEditable": attribute.is_editable,
        }
        return self._made(LLDAP_ATTRIBUTE_SCHEMA, self._place.namespace, name, spec, words)

    def _attribute_words(self, target: Target, name: str) -> str:
        drafts = self._content.users if target is Target.USER else self._content.groups
        thing = target.name.lower()
        holders = sum(name in draft.attributes for draft in drafts.values())
        values = f", and what {counted(holders, thing)} {_has(holders)} in it" if holders else ""
        return f"attribute {quoted(name)} of {thing}s{values}"

    def _entries(self, target: Target, attributes: Attributes) -> list[dict[str, Any]]:
        return [
            {"name": name, "value": list(value)}
            for name, value in sorted(attributes.items())
            if (target, name) not in self._refused
        ]

    # --- groups and users --------------------------------------------------------------------

    def _group_manifests(self) -> Iterator[tuple[str, Manifest]]:
        for key, draft in sorted(self._content.groups.items()):
            manifest = self._group(key, draft)
            if manifest is not None:
                yield key, manifest

    def _group(self, key: str, draft: GroupDraft) -> Manifest | None:
        spec: dict[str, Any] = {"displayName": draft.name}
        if draft.attributes:
            spec["attributes"] = self._entries(Target.GROUP, draft.attributes)
        namespace, words = self._place.of_group(key), group_words(draft.name)
        return self._made(LLDAP_GROUP, namespace, self._groups[key], spec, words)

    def _user_manifests(self) -> Iterator[tuple[str, Manifest]]:
        for key, draft in sorted(self._content.users.items()):
            manifest = self._user(key, draft)
            if manifest is not None:
                yield key, manifest

    def _user(self, key: str, draft: UserDraft) -> Manifest | None:
        fields = {
            "username": draft.id,
            "email": draft.email,
            "displayName": draft.display_name,
            "firstName": draft.first_name,
            "lastName": draft.last_name,
        }
        spec: dict[str, Any] = {name: text for name, text in fields.items() if text is not None}
        if draft.attributes:
            spec["attributes"] = self._entries(Target.USER, draft.attributes)
        spec |= _password_fields(draft.password, _secret_name(self._users[key]))
        namespace = self._place.of_user(privileged=key in self._content.privileged)
        return self._made(LLDAP_USER, namespace, self._users[key], spec, user_words(draft.id))

    def _secrets(self, users: dict[str, Manifest]) -> list[Manifest]:
        return [
            _secret(manifest, password)
            for key, manifest in users.items()
            if (password := self._content.users[key].password) is not None
            and (password.value is not None or not password.manage)
        ]

    # --- memberships ---------------------------------------------------------------------------

    def _memberships(
        self, users: dict[str, Manifest], groups: dict[str, Manifest]
    ) -> Iterator[Manifest]:
        names, lost = ObjectNames("membership"), 0
        for (user, group), name in sorted(self._content.edges.items()):
            if user not in users or (group in self._content.groups and group not in groups):
                lost += 1
                continue
            manifest = self._membership(users[user], group, name, names)
            if manifest is not None:
                yield manifest
        if lost:
            memberships = counted(lost, "membership")
            self._report.note(f"{memberships} of what was not carried over: left out with it")

    def _membership(
        self, user: Manifest, group: str, group_name: str, names: ObjectNames
    ) -> Manifest | None:
        username, namespace = user.body["spec"]["username"], self._place.of_group(group)
        words = f"{user_words(username)} in {group_words(group_name)}"
        if user.namespace != namespace:
            self._report.left_out(
                words,
                f"a membership needs both in one namespace, and the user, who is in a built-in "
                f"group, has to be in {user.namespace}: do this again with --namespace "
                f"{user.namespace}, or take the user out of the built-in group",
            )
            return None
        spec = {"userName": username, "groupName": group_name}
        name = names.give_pair(user.name, self._groups[group])
        return self._made(LLDAP_MEMBERSHIP, namespace, name, spec, words)

    # --- all ---------------------------------------------------------------------------------

    def _made(
        self, kind: Kind, namespace: str, name: str, spec: dict[str, Any], words: str
    ) -> Manifest | None:
        body = {
            "apiVersion": API_VERSION,
            "kind": kind.kind,
            "metadata": {
                "name": name,
                "namespace": namespace,
                "labels": {INSTANCE_LABEL: self._place.instance},
            },
            "spec": spec,
        }
        return Manifest(body) if fit(body, words, self._report) else None


def _password_fields(password: Password | None, secret: str) -> dict[str, Any]:
    if password is None:
        return {"passwordPolicy": PasswordPolicy.IGNORE.value}
    policy = PasswordPolicy.MANAGE if password.manage else PasswordPolicy.IGNORE
    reference = {"name": secret, "key": PASSWORD_KEY}
    return {"passwordPolicy": policy.value, "passwordSecretRef": reference}


def _secret_name(user: str) -> str:
    return f"{user}-password"


def _secret(user: Manifest, password: Password) -> Manifest:
    """The Secret of a user; one to fill in has no key, so that applying it again keeps its data."""
    body: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": SECRET,
        "metadata": {"name": _secret_name(user.name), "namespace": user.namespace},
        "type": "Opaque",
    }
    if password.value is None:
        return Manifest(body, _FILL_IN)
    return Manifest({**body, "data": {PASSWORD_KEY: base64.b64encode(password.value).decode()}})


def _has(number: int) -> str:
    return "has" if number == 1 else "have"
