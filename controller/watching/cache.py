"""What the reconcilers look up in the informers instead of asking the API server."""

from collections.abc import Mapping, Sequence

from controller.api import (
    DRY_RUN_ANNOTATION,
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    PAUSED_ANNOTATION,
    Kind,
)
from controller.harness.resource import Resource
from controller.watching.indexes import (
    ATTRIBUTE,
    EMAIL,
    GROUP,
    SECRET,
    TARGET,
    USER,
    attribute_claim,
)
from informers import Lister
from lldap.names import email_key


class Cache:
    """Listers of the four kinds and of Secrets' metadata. Any thread.

    What it answers may be older than the API server's state; nothing is deleted on its word.
    """

    def __init__(self, listers: Mapping[str, Lister], secrets: Lister) -> None:
        self._listers = listers
        self._secrets = secrets

    def get(self, kind: Kind, namespace: str, name: str) -> Resource | None:
        """One object of ours, if the informer has it."""
        found = self._listers[kind.kind].get(namespace, name)
        return None if found is None else Resource(found)

    def claimants(self, kind: Kind, target: str) -> list[Resource]:
        """All objects of this instance that claim `target`; those in dry-run claim nothing."""
        return [rival for rival in self.rivals(kind, target) if not in_dry_run(rival)]

    def rivals(self, kind: Kind, target: str) -> list[Resource]:
        """All objects of this instance that name `target` as theirs."""
        return [Resource(found) for found in self._listers[kind.kind].by_index(TARGET, target)]

    def memberships_of_user(self, user: str) -> list[Resource]:
        """Memberships that name the user key."""
        return [Resource(o) for o in self._listers[LLDAP_MEMBERSHIP.kind].by_index(USER, user)]

    def memberships_of_group(self, group: str) -> list[Resource]:
        """Memberships that name the group key."""
        return [Resource(o) for o in self._listers[LLDAP_MEMBERSHIP.kind].by_index(GROUP, group)]

    def users_of_secret(self, key: str) -> list[Resource]:
        """Users whose password is in the Secret `namespace/name`."""
        return [Resource(o) for o in self._listers[LLDAP_USER.kind].by_index(SECRET, key)]

    def users_waiting_for(self, email: str) -> list[Resource]:
        """Users that wait until somebody else no longer has the e-mail address."""
        found = self._listers[LLDAP_USER.kind].by_index(EMAIL, email_key(email))
        return [Resource(o) for o in found]

    def naming_attribute(self, target: str, name: str) -> list[Resource]:
        """Users (or groups) whose spec names the attribute."""
        return self.naming(attribute_claim(target, name))

    def naming(self, claim: str) -> list[Resource]:
        """The same by the claim; both kinds are asked, one has none."""
        return [
            Resource(found)
            for kind in (LLDAP_USER, LLDAP_GROUP)
            for found in self._listers[kind.kind].by_index(ATTRIBUTE, claim)
        ]

    def schemas(self, target: str, name: str) -> list[Resource]:
        """Attribute schemas that declare the attribute."""
        return self.claimants(LLDAP_ATTRIBUTE_SCHEMA, attribute_claim(target, name))

    def all(self, kind: Kind) -> list[Resource]:
        """Every object of the kind, other instances' stubs included."""
        return [Resource(found) for found in self._listers[kind.kind].list()]

    def usernames(self) -> Sequence[str]:
        """What the users of this instance claim in lldap."""
        return self._listers[LLDAP_USER.kind].index_values(TARGET)

    def secret_version(self, namespace: str, name: str) -> tuple[str, str] | None:
        """(uid, resourceVersion) of a Secret; None if the informer does not have it."""
        found = self._secrets.get(namespace, name)
        if found is None:
            return None
        return str(found["metadata"]["uid"]), str(found["metadata"]["resourceVersion"])


def in_dry_run(resource: Resource) -> bool:
    """Whether the object only asks what would be done."""
    return resource.asks_for(DRY_RUN_ANNOTATION)


def is_paused(resource: Resource) -> bool:
    """Whether nothing is to be done for the object."""
    return resource.asks_for(PAUSED_ANNOTATION)


def can_inherit(resource: Resource) -> bool:
    """Whether the object may take over a target from one that goes."""
    return not resource.deleting and not in_dry_run(resource) and not is_paused(resource)
