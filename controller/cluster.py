"""The cluster that the operator runs in or points at."""

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

import urllib3

from controller.configuration.config import ConfigError
from controller.configuration.contradictions import Mistake
from controller.loop import FOREVER
from informers import ApiFailure, RestClient, StatusError, StatusKind, UnexpectedAnswer

if TYPE_CHECKING:
    from kubernetes.client import ApiClient, Configuration

_LOG = logging.getLogger("controller.cluster")

RETRY_SECONDS = 2.0
KUBE_SYSTEM = "/api/v1/namespaces/kube-system"
_NO_RIGHT = {StatusKind.FORBIDDEN, StatusKind.NOT_FOUND}  # asking again would not help


def api_client(kubeconfig: str | None) -> "ApiClient":
    """The `kubernetes` package's client, by `kubeconfig`, else in-cluster, else by ~/.kube/config.

    Raises ConfigError.
    """
    from kubernetes import client, config  # noqa: PLC0415 - takes long; other commands need none

    configuration = client.Configuration()
    if kubeconfig is not None:
        _refuse_missing(kubeconfig)
    try:
        if kubeconfig is not None:
            config.load_kube_config(kubeconfig, client_configuration=configuration)
        elif not _in_cluster(configuration):
            config.load_kube_config(client_configuration=configuration)
        _tell_unverified(configuration)
        return client.ApiClient(configuration)
    except Exception as error:  # noqa: BLE001 - its parsers raise whatever a file makes them
        # The text may quote the file, which holds tokens.
        why = f"leads to no API server ({type(error).__name__}). Name a kubeconfig that can be used"
        raise ConfigError((Mistake("KUBECONFIG", why),)) from None


def _refuse_missing(kubeconfig: str) -> None:
    """Files of several clusters may be given, as kubectl has it; one that is there is enough."""
    if not any(Path(each).expanduser().exists() for each in kubeconfig.split(os.pathsep) if each):
        why = f"names {kubeconfig}, where no file is. Name a kubeconfig that can be used"
        raise ConfigError((Mistake("KUBECONFIG", why),))


def _tell_unverified(configuration: "Configuration") -> None:
    """One line of our own in place of one of urllib3 a request."""
    if configuration.verify_ssl:
        return
    urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    _LOG.warning(
        "the kubeconfig says insecure-skip-tls-verify: whoever is on the way to the API server can "
        "read and change all that goes there, the token included. Name its CA instead"
    )


def _in_cluster(configuration: "Configuration") -> bool:
    from kubernetes import config  # noqa: PLC0415 - see above

    try:
        config.load_incluster_config(client_configuration=configuration)
    except config.ConfigException:  # no service account is mounted
        return False
    return True


class ClusterId:
    """What the cluster is called in marks: LLDAP_CLUSTER_ID, else the uid of kube-system.

    `step`: one thread; the rest: any thread. An API server that does not answer is asked again;
    one that does not let the operator read that namespace makes a `mistake`.
    """

    def __init__(self, configured: str | None, rest: RestClient) -> None:
        self.value = configured
        self.mistake: ConfigError | None = None
        self._rest = rest
        self._failure = "not asked yet"

    @property
    def decided(self) -> bool:
        """Whether there is a value, or will never be one."""
        return self.value is not None or self.mistake is not None

    def check(self) -> str | None:
        """For readiness."""
        return None if self.value is not None else self._failure

    def step(self) -> float:
        """Ask if that is needed; the seconds until the next step."""
        if self.decided:
            return FOREVER
        try:
            self.value = self._read()
        except StatusError as error:
            if error.kind not in _NO_RIGHT:
                return self._later(str(error))
            self.mistake = _unreadable(error)
        except ApiFailure as error:
            return self._later(str(error))
        return FOREVER

    def _read(self) -> str:
        metadata = self._rest.get(KUBE_SYSTEM).get("metadata")
        uid = metadata.get("uid") if isinstance(metadata, dict) else None
        if not isinstance(uid, str) or not uid:
            raise UnexpectedAnswer(f"GET {KUBE_SYSTEM}: an object without a uid")
        return uid

    def _later(self, failure: str) -> float:
        if failure != self._failure:
            self._failure = failure
            _LOG.warning(
                "the API server does not say which cluster this is: %s; trying again every %g s",
                failure,
                RETRY_SECONDS,
            )
        return RETRY_SECONDS


def _unreadable(error: StatusError) -> ConfigError:
    why = (
        f"is not set, and the namespace kube-system cannot be read ({error}). Set it, or give "
        "the operator the right to get that namespace"
    )
    return ConfigError((Mistake("LLDAP_CLUSTER_ID", why),))
