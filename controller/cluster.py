"""The cluster that the operator runs in or points at."""

from typing import TYPE_CHECKING

from controller.config import Config, ConfigError
from controller.config_rules import Mistake
from informers import ApiFailure, RestClient

if TYPE_CHECKING:
    from kubernetes.client import ApiClient


def api_client(kubeconfig: str | None) -> "ApiClient":
    """The `kubernetes` package's client: in the cluster by its service account, else by a file.

    Raises ConfigError.
    """
    from kubernetes import client, config  # noqa: PLC0415 - takes long; other commands need none

    configuration = client.Configuration()
    try:
        if kubeconfig is None:
            config.load_config(client_configuration=configuration)
        else:
            config.load_kube_config(kubeconfig, client_configuration=configuration)
    except (config.ConfigException, OSError) as error:
        why = f"leads to no API server ({type(error).__name__}). Name a kubeconfig that can be used"
        raise ConfigError((Mistake("KUBECONFIG", why),)) from None
    return client.ApiClient(configuration)


def cluster_id(config: Config, rest: RestClient) -> str:
    """LLDAP_CLUSTER_ID, else the uid of the namespace kube-system. Raises ConfigError."""
    if config.lldap_cluster_id is not None:
        return config.lldap_cluster_id
    try:
        found = rest.get("/api/v1/namespaces/kube-system")
    except ApiFailure as error:
        why = (
            f"is not set, and the namespace kube-system cannot be read ({error}). Set it, or give "
            "the operator the right to get that namespace"
        )
        raise ConfigError((Mistake("LLDAP_CLUSTER_ID", why),)) from None
    return str(found["metadata"]["uid"])
