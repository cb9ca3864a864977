"""The demo, step by step."""

import secrets
import shlex
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import requests

from controller.api import KINDS
from controller.clock import SystemClock
from informers import ApiFailure
from sandbox.controlplane import OPERATOR_NAMESPACE
from sandbox.demo.apiservers import Running, api_server
from sandbox.demo.failure import DemoError
from sandbox.demo.manifests import (
    CRDS,
    EXAMPLES,
    OPERATOR,
    POLICIES,
    RIGHTS,
    Cluster,
    documents,
    key_of,
)
from sandbox.demo.operatorprocess import OperatorProcess
from sandbox.demo.progress import Progress, table
from sandbox.demo.watching import Watching
from sandbox.lldap.http import LldapServer
from sandbox.lldap.server import ADMIN, Lldap

READY_SECONDS = 60.0
LOGIN_SECONDS = 10.0
POLL_SECONDS = 0.1
PERSON, PERSON_SECRET = "alice", "alice-password"  # of docs/examples/user.yaml


class Demo:
    """Everything that runs lives between `__enter__` and `__exit__`. One thread."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stack = ExitStack()
        self._examples = list(documents(EXAMPLES))
        self._operator: OperatorProcess | None = None

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="lldap-operator-demo-"))
        self._stack.callback(shutil.rmtree, self._folder, ignore_errors=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop and remove everything; a second Ctrl-C does not get in the way."""
        before = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)]
        for number, _ in before:
            signal.signal(number, signal.SIG_IGN)
        if isinstance(error, DemoError) and self._operator is not None:
            self._progress.plain(f"the operator's last words:\n{self._operator.tail()}")
        self._stack.close()
        for number, handler in before:
            signal.signal(number, handler)

    # --- the steps ---------------------------------------------------------------------------

    def run(self) -> None:
        """From nothing to a person who can log in. Raises DemoError."""
        self._running = self._start_api_server()
        self._cluster = Cluster(self._running.admin)
        self._stack.callback(self._cluster.close)
        self._lldap = self._start_lldap()
        self._install()
        self._operator = self._start_operator()
        self._apply_examples()
        self._prove_login()
        self._show()

    def _start_api_server(self) -> Running:
        self._progress.say("an API server starts")
        running = self._stack.enter_context(api_server(self._folder))
        self._progress.say(f"the API server ({running.what}) listens on {running.url}")
        return running

    def _start_lldap(self) -> LldapServer:
        password = secrets.token_urlsafe(18)
        self._private("lldap-password", password.encode())
        lldap = Lldap(SystemClock(), admin_password=password)
        server = self._stack.enter_context(LldapServer(lldap))
        self._progress.say(f"lldap (the sandbox's) listens on {server.url}")
        return server

    def _private(self, name: str, content: bytes) -> Path:
        path = self._folder / name
        path.touch(mode=0o600)
        path.write_bytes(content)
        return path

    def _install(self) -> None:
        self._progress.say("the four kinds, the admission policies and the operator's rights go in")
        for document in [*documents(OPERATOR, "namespace"), *documents(CRDS)]:
            self._cluster.apply(document)
        for document in documents(POLICIES):
            self._cluster.apply(document)
        if self._running.has_rbac:
            for prefix in RIGHTS:
                for document in documents(OPERATOR, prefix):
                    self._cluster.apply(document)
        self._wait("the four kinds are served", lambda: all(map(self._cluster.serves, KINDS)))

    def _start_operator(self) -> OperatorProcess:
        flags = {
            "lldap-url": self._lldap.url,
            "lldap-admin-username": ADMIN,
            "lldap-admin-password-file": str(self._folder / "lldap-password"),
            "lldap-password-hash-key-file": str(self._private("hash-key", secrets.token_bytes(32))),
            "kubeconfig": str(self._running.operator),
        }
        operator = self._stack.enter_context(OperatorProcess(self._folder, flags))
        self._progress.say(f"the operator starts; its log is {operator.log}")
        return operator

    def _apply_examples(self) -> None:
        self._progress.say(f"{EXAMPLES.relative_to(EXAMPLES.parents[1])}/ is applied")
        for document in self._examples:
            self._cluster.apply(document)
            self._progress.say(f"  {key_of(document)}")
        watching = Watching(self._cluster, self._examples, self._progress.say)
        self._wait("all examples are Ready", watching.step, watching.missing)

    def _prove_login(self) -> None:
        password = next(
            document["stringData"]["password"]
            for document in self._examples
            if document["kind"] == "Secret" and document["metadata"]["name"] == PERSON_SECRET
        )
        status = self._login(password)
        if status != requests.codes.ok:
            msg = f"{PERSON} cannot log in: lldap answers {status}"
            raise DemoError(msg)
        self._progress.say(f"{PERSON} logs in with the password of the Secret {PERSON_SECRET}")

    def _login(self, password: str) -> int:
        with requests.Session() as session:
            session.trust_env = False
            return session.post(
                f"{self._lldap.url}/auth/simple/login",
                json={"username": PERSON, "password": password},
                timeout=LOGIN_SECONDS,
            ).status_code

    def _show(self) -> None:
        for kind in KINDS:
            self._progress.plain(f"\n{table(self._cluster.table(kind))}")
        self._progress.plain()

    def _wait(
        self, what: str, condition: Callable[[], bool], missing: Callable[[], str] = lambda: ""
    ) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not self._holds(condition):
            if self._operator is not None:
                self._operator.check()
            if time.monotonic() > deadline:
                msg = f"not after {READY_SECONDS:g} s: {what}\n{missing()}".rstrip()
                raise DemoError(msg)
            time.sleep(POLL_SECONDS)

    @staticmethod
    def _holds(condition: Callable[[], bool]) -> bool:
        try:
            return condition()
        except ApiFailure:
            return False

    # --- KEEP=1 --------------------------------------------------------------------------------

    def keep(self) -> None:
        """Say where everything is and what to try; return on Ctrl-C."""
        self._progress.plain(self._directions())
        try:
            while True:
                assert self._operator is not None
                self._operator.check()
                time.sleep(1.0)
        except KeyboardInterrupt:
            self._progress.plain()
            self._progress.say("everything is stopped and removed")

    def _directions(self) -> str:
        operator = self._operator
        assert operator is not None
        login = f"""'{{"username": "{PERSON}", "password": "a new password"}}'"""
        return f"""All of it runs until Ctrl-C.

  API server   {self._running.url}
  kubeconfig   {self._running.admin}
  lldap        {self._lldap.url} (account {ADMIN}, password in {self._folder}/lldap-password)
  metrics      http://{operator.metrics}/metrics
  probes       http://{operator.health}/readyz?verbose
  log          {operator.log}

Try, in another terminal:

  export KUBECONFIG={shlex.quote(str(self._running.admin))}
  kubectl get lldap --all-namespaces
  kubectl describe lldapuser {PERSON}
  kubectl patch secret {PERSON_SECRET} --patch '{{"stringData": {{"password": "a new password"}}}}'
  curl --include --json {login} {self._lldap.url}/auth/simple/login
  kubectl delete lldapgroup developers && kubectl get lldapmembership

The virtual groups of lldap's own are in the namespace {OPERATOR_NAMESPACE}.
"""
