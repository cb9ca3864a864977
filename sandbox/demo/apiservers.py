"""The API server of the demo: a real one if its programs are at hand, else the sandbox's."""

import os
import random
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from controller.clock import SystemClock
from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.authorization import ADMIN, AUTHENTICATED, Authenticator, Authorizer, User
from sandbox.apiserver.http import ApiServerHttp
from sandbox.controlplane import ASSETS_VARIABLE, OPERATOR_NAMESPACE, ControlPlane, StartError
from sandbox.demo.failure import DemoError
from sandbox.demo.manifests import OPERATOR, RIGHTS, documents
from sandbox.demo.rights import rules_of

ACCOUNT = f"system:serviceaccount:{OPERATOR_NAMESPACE}:lldap-operator"


@dataclass(frozen=True, slots=True)
class Running:
    """An API server that runs. `has_rbac`: whether it takes the Roles of deploy/ as objects."""

    what: str
    url: str
    admin: Path
    operator: Path
    has_rbac: bool


@contextmanager
def api_server(folder: Path) -> Iterator[Running]:
    """Run one while the block lasts; kubeconfigs go into `folder`. Raises DemoError."""
    assets = os.environ.get(ASSETS_VARIABLE)
    with _real(Path(assets)) if assets else _sandbox(folder) as running:
        yield running


@contextmanager
def _real(assets: Path) -> Iterator[Running]:
    try:
        with ControlPlane(assets) as plane:
            yield Running(
                f"kube-apiserver of {assets}",
                plane.url,
                plane.write_kubeconfig(plane.admin),
                plane.write_kubeconfig(plane.operator),
                has_rbac=True,
            )
    except (StartError, OSError) as error:
        msg = f"the API server did not start: {error}"
        raise DemoError(msg) from None


@contextmanager
def _sandbox(folder: Path) -> Iterator[Running]:
    token = secrets.token_urlsafe(24)
    roles = [role for prefix in RIGHTS for role in documents(OPERATOR, prefix)]
    server = ApiServer(
        SystemClock(),
        random.SystemRandom(),
        authenticator=Authenticator({token: User(ACCOUNT, groups=(AUTHENTICATED,))}, ADMIN),
        authorizer=Authorizer({ACCOUNT: rules_of(roles)}),
    )
    admin, operator = folder / "admin.kubeconfig", folder / "operator.kubeconfig"
    with ApiServerHttp(server) as http:
        http.kubeconfig(admin)
        http.kubeconfig(operator, token=token)
        yield Running("the sandbox's", http.url, admin, operator, has_rbac=False)
