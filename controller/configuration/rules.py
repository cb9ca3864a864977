"""What of the configuration the reconcilers decide by."""

from dataclasses import dataclass
from typing import Self

from controller.configuration.config import Config, ConfigError
from controller.configuration.contradictions import contradictions
from controller.configuration.values import Adoption
from lldap.names import user_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """One instance's rules. `namespaces` is None when all are watched."""

    instance: str
    cluster: str
    own_user: str
    virtual_group_namespace: str
    dead_clusters: frozenset[str] = frozenset()
    adoption: Adoption = Adoption.IF_UNPRIVILEGED
    allow_unmanaged_references: bool = False
    require_attribute_schema: bool = True
    namespaces: frozenset[str] | None = None

    @classmethod
    def of(cls, config: Config, cluster: str) -> Self:
        """The rules of a configuration; the namespace of the virtual groups is always watched.

        Raises ConfigError if the cluster, whose id is known by now, is among the dead ones.
        """
        found = {"lldap_cluster_id": cluster, "lldap_dead_clusters": config.lldap_dead_clusters}
        mistakes = tuple(contradictions(found))
        if mistakes:
            raise ConfigError(mistakes)
        virtual = config.lldap_virtual_group_namespace
        watched = frozenset({*config.watch_namespaces, virtual})
        return cls(
            instance=config.lldap_instance,
            cluster=cluster,
            own_user=user_key(config.lldap_admin_username),
            virtual_group_namespace=virtual,
            dead_clusters=frozenset(config.lldap_dead_clusters),
            adoption=config.lldap_adoption,
            allow_unmanaged_references=config.lldap_allow_unmanaged_references,
            require_attribute_schema=config.lldap_require_attribute_schema,
            namespaces=watched if config.watch_namespaces else None,
        )

    def watches(self, namespace: str) -> bool:
        """Whether objects of the namespace are seen."""
        return self.namespaces is None or namespace in self.namespaces

    def hands_out_rights(self, namespace: str) -> bool:
        """Whether who may write there may make an admin: memberships there can."""
        return namespace == self.virtual_group_namespace

    def may_write_privileged(self, namespace: str) -> bool:
        """Whether an object there may write an account that has rights in lldap."""
        return self.adoption is Adoption.ALWAYS or self.hands_out_rights(namespace)

    def may_adopt(self, namespace: str, *, privileged: bool) -> bool:
        """Whether an object there may take over what is nobody's, uninvited."""
        if self.adoption is Adoption.IF_UNPRIVILEGED:
            return not privileged or self.hands_out_rights(namespace)
        return self.adoption is Adoption.ALWAYS
