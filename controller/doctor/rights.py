"""What the operator asks of the API server: the rights that its Roles grant, and no others."""

from collections.abc import Iterator
from dataclasses import dataclass

from controller.api import GROUP, KINDS, LLDAP_GROUP, OPERATE_VERB
from controller.configuration.config import Config
from controller.configuration.rules import Rules

EVENTS_GROUP = "events.k8s.io"
LEASES_GROUP = "coordination.k8s.io"
CRD_GROUP = "apiextensions.k8s.io"


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """One verb on one resource; no `namespace` is the whole cluster, no `name` any object."""

    verb: str
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        resource = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        what = f"{resource}.{self.group}" if self.group else resource
        name = f" {self.name}" if self.name else ""
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"{self.verb} {what}{name}{where}"


def needed(config: Config) -> Iterator[Right]:
    """The rights that an operator of this configuration needs, each once."""
    for namespace in sorted(Rules.of(config, "").namespaces or {""}):
        yield from _watching(namespace)
    virtual = config.lldap_virtual_group_namespace
    yield Right("create", GROUP, LLDAP_GROUP.plural, namespace=virtual)
    yield from _deciding(config)
    if config.leader_elect:
        yield from _leading(config)
    if config.metrics_auth:
        yield Right("create", "authentication.k8s.io", "tokenreviews")
        yield Right("create", "authorization.k8s.io", "subjectaccessreviews")


def _watching(namespace: str) -> Iterator[Right]:
    for kind in KINDS:
        for verb in ("get", "list", "watch", "patch", OPERATE_VERB):
            yield Right(verb, GROUP, kind.plural, namespace=namespace)
        yield Right("patch", GROUP, kind.plural, "status", namespace)
    for verb in ("get", "list", "watch"):
        yield Right(verb, "", "secrets", namespace=namespace)
    for verb in ("create", "patch"):
        yield Right(verb, EVENTS_GROUP, "events", namespace=namespace)


def _deciding(config: Config) -> Iterator[Right]:
    """Whether an uninstall is under way, and what the cluster is called."""
    for kind in KINDS:
        yield Right("get", CRD_GROUP, "customresourcedefinitions", name=kind.crd_name)
    names = {config.pod_namespace}
    if config.lldap_cluster_id is None:
        names.add("kube-system")
    for name in sorted(names):
        # The API server takes the request for one namespace as one in it.
        yield Right("get", "", "namespaces", namespace=name, name=name)


def _leading(config: Config) -> Iterator[Right]:
    where = config.lease_namespace
    yield Right("create", LEASES_GROUP, "leases", namespace=where)
    for verb in ("get", "update"):
        yield Right(verb, LEASES_GROUP, "leases", namespace=where, name=config.lease_name)
