"""Which instance and which namespaces the manifests are for."""

from dataclasses import dataclass

from lldap.names import BUILT_IN_GROUPS


@dataclass(frozen=True, slots=True)
class Place:
    """Where objects go.

    Rights in lldap are handed out only in the namespace of the virtual groups, and a membership
    needs its user beside it: so who is in a built-in group goes there.
    """

    instance: str
    namespace: str
    virtual_namespace: str

    def of_user(self, *, privileged: bool) -> str:
        """The namespace of a user's object."""
        return self.virtual_namespace if privileged else self.namespace

    def of_group(self, group: str) -> str:
        """The namespace of a group's object; a built-in one's is the operator's own."""
        return self.virtual_namespace if group in BUILT_IN_GROUPS else self.namespace
