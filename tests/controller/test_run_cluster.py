"""Which cluster it is, and how its API server is reached."""

import base64
from pathlib import Path

import pytest
import yaml

from controller.cluster import ClusterId, api_client
from controller.configuration.config import ConfigError
from controller.loop import FOREVER
from informers import ConnectionFailed, RawResponse, RestClient
from informers.transport import NO_HEADERS, BeforeSend, Query, RawStream, Transport


class Scripted:
    """A transport that gives its answers one after the other."""

    def __init__(self, *answers: RawResponse | Exception) -> None:
        self._answers = list(answers)
        self.paths: list[str] = []

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        headers: object = NO_HEADERS,
        body: bytes | None = None,
        timeout: float,
        before_send: BeforeSend | None = None,
    ) -> RawResponse:
        if before_send is not None:
            before_send(timeout)
        self.paths.append(path)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def stream(self, *args: object, **kwargs: object) -> RawStream:
        raise NotImplementedError


def answer(code: int, body: bytes) -> RawResponse:
    return RawResponse(code, {}, body)


def cluster_id(configured: str | None, transport: Transport) -> ClusterId:
    return ClusterId(configured, RestClient(transport, call_seconds=1.0))


NAMESPACE = answer(200, b'{"metadata":{"uid":"1234"}}')
DOWN = ConnectionFailed("nobody listens", sent=False)


def test_the_configured_name_is_taken_without_asking() -> None:
    transport = Scripted()
    cluster = cluster_id("cluster-7", transport)
    assert cluster.value == "cluster-7"
    assert cluster.step() == FOREVER
    assert cluster.check() is None
    assert transport.paths == []


def test_the_uid_of_kube_system_is_the_name() -> None:
    transport = Scripted(NAMESPACE)
    cluster = cluster_id(None, transport)
    assert cluster.check() == "not asked yet"
    assert cluster.step() == FOREVER
    assert cluster.value == "1234"
    assert transport.paths == ["/api/v1/namespaces/kube-system"]


def test_a_server_that_does_not_answer_is_asked_again_and_the_log_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cluster = cluster_id(None, Scripted(DOWN, DOWN, answer(500, b""), NAMESPACE))
    assert [cluster.step() for _ in range(3)] == [2.0, 2.0, 2.0]
    assert not cluster.decided
    assert cluster.check() == "GET /api/v1/namespaces/kube-system: 500"
    assert cluster.step() == FOREVER
    assert cluster.value == "1234"
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]


@pytest.mark.parametrize(
    "body", [b'{"metadata":{}}', b'{"metadata":{"uid":7}}', b'{"metadata":null}', b"{}"]
)
def test_a_namespace_without_a_uid_is_no_answer(body: bytes) -> None:
    cluster = cluster_id(None, Scripted(answer(200, body)))
    assert cluster.step() == 2.0
    assert not cluster.decided


@pytest.mark.parametrize("code", [403, 404])
def test_a_namespace_that_cannot_be_had_is_a_mistake_that_says_what_to_do(code: int) -> None:
    body = b'{"kind":"Status","reason":"%s"}' % (b"Forbidden" if code == 403 else b"NotFound")
    cluster = cluster_id(None, Scripted(answer(code, body)))
    assert cluster.step() == FOREVER
    assert cluster.value is None
    assert cluster.mistake is not None
    assert "LLDAP_CLUSTER_ID: is not set" in str(cluster.mistake)
    assert "give the operator the right to get that namespace" in str(cluster.mistake)


# --- the client ----------------------------------------------------------------------------


def kubeconfig(path: Path, server: str) -> Path:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": server}}],
        "users": [{"name": "me", "user": {}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(config))
    return path


@pytest.fixture
def service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the process into a Pod, as far as the `kubernetes` package looks."""
    from kubernetes.config import incluster_config

    token, certificate = tmp_path / "token", tmp_path / "ca.crt"
    token.write_text("a-token")
    certificate.write_text("a certificate")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(certificate))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from kubernetes.config import kube_config

    file = tmp_path / ".kube" / "config"
    monkeypatch.setattr(kube_config, "KUBE_CONFIG_DEFAULT_LOCATION", str(file))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    return file


def test_a_named_kubeconfig_comes_first(tmp_path: Path, service_account: None) -> None:
    file = kubeconfig(tmp_path / "named", "http://127.0.0.1:1")
    assert api_client(str(file)).configuration.host == "http://127.0.0.1:1"


def test_in_a_cluster_its_service_account_comes_before_the_users_file(
    home: Path, service_account: None
) -> None:
    kubeconfig(home, "http://127.0.0.1:2")
    assert api_client(None).configuration.host == "https://10.0.0.1:443"


def test_outside_of_a_cluster_the_users_file_counts(home: Path) -> None:
    kubeconfig(home, "http://127.0.0.1:2")
    assert api_client(None).configuration.host == "http://127.0.0.1:2"


SECRET = base64.b64encode(b"a-token-in-a-file").decode()


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        "just words",
        f"users: [{{token: {SECRET}}}",
        f"apiVersion: v1\nusers: {SECRET}\nclusters: 7\ncontexts: []\ncurrent-context: x\n",
        "\x00\xff",
    ],
)
def test_a_kubeconfig_that_is_none_is_a_mistake_that_quotes_nothing_of_it(
    tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "kubeconfig"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError) as caught:
        api_client(str(file))
    said = "leads to no API server" if content is not None else f"names {file}, where no file is"
    assert str(caught.value).startswith(f"The configuration has mistakes:\n  KUBECONFIG: {said}")
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
