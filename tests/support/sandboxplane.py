"""The sandbox's API server as a process of its own, in the place of a real control plane.

`python -m tests.support.sandboxplane CONFIGURATION` serves until it is killed.
"""

import json
import random
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kubernetes import client

from controller.clock import SystemClock
from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.authorization import (
    ADMIN,
    AUTHENTICATED,
    Authenticator,
    Authorizer,
    Rule,
)
from sandbox.apiserver.authorization import User as SandboxUser
from sandbox.apiserver.http import ApiServerHttp
from sandbox.controlplane import ControlPlane, User, free_ports

ROOT = Path(__file__).parents[2]


class SandboxPlane(ControlPlane):
    """See ControlPlane. It takes no RBAC objects: `rules` are the rights that users have, by name.

    There is no TLS, namespaces end by themselves, and who has no token is an administrator: kubectl
    sends none without TLS.
    """

    def __init__(self, rules: dict[str, list[dict[str, Any]]] | None = None) -> None:
        """`rules`: as a Role has them, by the attribute that names the user."""
        super().__init__(Path())
        self._rules = {getattr(self, who).name: each for who, each in (rules or {}).items()}

    def configuration(self, user: User) -> client.Configuration:
        """See ControlPlane."""
        configuration = super().configuration(user)
        configuration.ssl_ca_cert = None
        return configuration

    def _kubeconfig(self, user: User) -> dict[str, Any]:
        config = super()._kubeconfig(user)
        del config["clusters"][0]["cluster"]["certificate-authority"]
        return config

    def _start(self) -> None:
        (port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        users = [asdict(user) for user in (self.admin, self.operator, self.tenant)]
        configuration = {"port": port, "users": users, "rules": self._rules}
        (self.folder / "configuration.json").write_text(json.dumps(configuration))
        program = [sys.executable, "-m", __name__, str(self.folder / "configuration.json")]
        with self._log("sandbox").open("wb") as log:
            self._servers["sandbox"] = subprocess.Popen(
                program, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._watch()
        self._wait_until_ready()

    def _ready(self) -> bool:
        try:
            with self.session(self.admin) as session:
                return session.get(f"{self.url}/readyz", timeout=self._start_seconds).ok
        except OSError:  # nobody listens yet
            return False


def serve(configuration: dict[str, Any]) -> None:
    """Serve for good."""
    users = {
        user["token"]: SandboxUser(
            user["name"], f"uid-of-{user['name']}", (*user["groups"], AUTHENTICATED)
        )
        for user in configuration["users"]
    }
    rules = {
        name: [_rule(each) for each in given] for name, given in configuration["rules"].items()
    }
    server = ApiServer(
        SystemClock(),
        random.Random(1),
        authenticator=Authenticator(users, ADMIN),
        authorizer=Authorizer(rules),
    )
    with ApiServerHttp(server, configuration["port"]):
        threading.Event().wait()


def _rule(rule: dict[str, Any]) -> Rule:
    return Rule(verbs=rule["verbs"], groups=rule["apiGroups"], resources=rule["resources"])


if __name__ == "__main__":
    serve(json.loads(Path(sys.argv[1]).read_text()))
