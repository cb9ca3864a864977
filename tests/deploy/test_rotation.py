"""Tokens, certificates and passwords are changed under a running operator."""

import functools
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward
from tests.support.certificates import Authority
from tests.support.cluster import wait_until
from tests.support.live import ADMIN_PASSWORD, LiveLldap, Replica, new_lldap, running
from tests.support.proxy import Proxy, Way
from tests.support.sandboxed import Sandbox

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
REFRESH_SECONDS = 60.0  # how often the kubernetes package reads the token's file
NEW_PASSWORD = "admin-password-2"
NO_UNSHARE = "needs the right to mount in a namespace of its own (unshare)"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def sandbox() -> Sandbox:
    return Sandbox()


def behind_tls(
    stack: ExitStack, target: str, authority: Authority, folder: Path
) -> tuple[Proxy, ssl.SSLContext]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    renew(context, authority, folder)
    return stack.enter_context(Proxy(target, tls=context)), context


def renew(context: ssl.SSLContext, authority: Authority, folder: Path) -> None:
    """Another certificate for the next connections."""
    certificate, key = folder / "served.crt", folder / "served.key"
    authority.issue(certificate, key)
    context.load_cert_chain(certificate, key)


def reconnect(proxy: Proxy) -> None:
    proxy.turn(Way.CUT)
    proxy.turn(Way.OPEN)


@functools.cache
def in_cluster(account: Path) -> tuple[str, ...]:
    """What runs a program with `account` where a Pod has its service account."""
    unshare = shutil.which("unshare") or "unshare"
    script = (
        f"mount -t tmpfs none /var/run && mkdir -p {ACCOUNT} && "
        f'mount --bind "$0" {ACCOUNT} && exec "$@"'
    )
    prefix = (unshare, "--mount", "sh", "-c", script, str(account))
    try:
        subprocess.run([*prefix, "true"], check=True, capture_output=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        pytest.skip(NO_UNSHARE)
    return prefix


def test_the_token_and_the_ca_of_the_service_account_are_rotated(
    stack: ExitStack, sandbox: Sandbox, tmp_path: Path
) -> None:
    first, second = Authority("first"), Authority("second")
    account = tmp_path / "account"
    account.mkdir()
    (account / "ca.crt").write_bytes(first.pem)
    (account / "namespace").write_text("lldap-operator")
    (account / "token").write_text("token-1")
    sandbox.let_in("token-1", "operator")
    server = stack.enter_context(sandbox.served())
    proxy, served = behind_tls(stack, server.url, first, tmp_path)
    url = stack.enter_context(new_lldap().door())
    environ = {
        "LLDAP_URL": url,
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(proxy.port),
    }
    replica = Replica("rotation", tmp_path / "operator", environ, in_cluster(account))
    stack.enter_context(running(replica))
    sandbox.user("alice")
    sandbox.wait("alice")

    # As a kubelet and a CA do it: both are good for a while.
    sandbox.let_in("token-2", "operator")
    (account / "token").write_text("token-2")
    (account / "ca.crt").write_bytes(first.pem + second.pem)
    time.sleep(REFRESH_SECONDS + 5.0)
    sandbox.user("bob")
    sandbox.wait("bob")
    del sandbox.tokens["token-1"]
    renew(served, second, tmp_path)
    (account / "ca.crt").write_bytes(second.pem)
    reconnect(proxy)

    sandbox.user("carol")
    sandbox.wait("carol")
    assert replica.running
    assert " 401 " not in replica.text()
    assert replica.stop() == 0


# --- lldap -------------------------------------------------------------------------------------


@pytest.fixture
def lldap() -> LiveLldap:
    return new_lldap()


def operator(stack: ExitStack, sandbox: Sandbox, folder: Path, url: str, **environ: str) -> Replica:
    """An operator that works at once, for there is no election."""
    server = stack.enter_context(sandbox.served())
    server.kubeconfig(folder / "kubeconfig")
    whole = {"KUBECONFIG": str(folder / "kubeconfig"), "LLDAP_URL": url, "LEADER_ELECT": "false"}
    replica = Replica("rotation", folder / "operator", {**whole, **environ})
    stack.enter_context(running(replica))
    return replica


def test_a_wrong_password_is_corrected_without_a_restart(
    stack: ExitStack, sandbox: Sandbox, lldap: LiveLldap, tmp_path: Path
) -> None:
    lldap.lldap.set_password("admin", NEW_PASSWORD)
    sandbox.user("alice")
    url = stack.enter_context(lldap.door())
    replica = operator(stack, sandbox, tmp_path, url)
    sandbox.wait("alice", "Forbidden")
    assert replica.probe("/readyz") == 200, "readiness does not depend on lldap"
    replica.password_file.write_text(f"{NEW_PASSWORD}\n")
    sandbox.wait("alice")
    assert replica.stop() == 0
    assert NEW_PASSWORD not in replica.text()
    assert ADMIN_PASSWORD not in replica.text()


def test_a_password_that_changes_under_a_running_operator(
    stack: ExitStack, sandbox: Sandbox, lldap: LiveLldap, tmp_path: Path
) -> None:
    expired = False

    def refuse_the_old_session(call: Call, forward: Forward) -> Response:
        nonlocal expired
        if expired and call.path == "/api/graphql":
            expired = False
            return Response.of_text(401, "the token is not valid any more")
        return forward(call)

    lldap.lldap.hooks.append(refuse_the_old_session)
    url = stack.enter_context(lldap.door())
    replica = operator(stack, sandbox, tmp_path, url)
    sandbox.user("alice")
    sandbox.wait("alice")
    lldap.lldap.set_password("admin", NEW_PASSWORD)
    expired = True
    sandbox.user("bob")
    sandbox.wait("bob", "Forbidden")
    replica.password_file.write_text(NEW_PASSWORD)
    sandbox.wait("bob")
    assert replica.stop() == 0


def test_the_ca_of_lldap_is_rotated(
    stack: ExitStack, sandbox: Sandbox, lldap: LiveLldap, tmp_path: Path
) -> None:
    first, second = Authority("first"), Authority("second")
    ca_file = tmp_path / "ca.crt"
    ca_file.write_bytes(first.pem)
    proxy, served = behind_tls(stack, stack.enter_context(lldap.door()), first, tmp_path)
    replica = operator(stack, sandbox, tmp_path, proxy.url, LLDAP_CA_FILE=str(ca_file))
    sandbox.user("alice")
    sandbox.wait("alice")
    renew(served, second, tmp_path)
    reconnect(proxy)
    sandbox.user("bob")
    sandbox.wait("bob", "LldapUnavailable")
    ca_file.write_bytes(second.pem)
    sandbox.wait("bob")
    wait_until(lambda: "bob" in lldap.directory()["users"], "bob")
    assert replica.stop() == 0
