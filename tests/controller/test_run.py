"""From a configuration to a process: what is connected to what, and nothing begins by itself."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest

from controller.configuration.config import ConfigError, load
from controller.election.leadership import NoElection, NotLeader
from controller.events.objectevents import ObjectEvents
from controller.harness.resource import Resource
from controller.redaction import REDACTED, Redactor
from controller.run import Assembly
from controller.stop import Stop
from lldap import ConnectionFailed as LldapConnectionFailed
from tests.informers.rawserver import RawServer, serve

PASSWORD = "a password that nobody sees"
ANSWER = b'{"metadata": {"uid": "u", "resourceVersion": "2"}}'


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "me", "user": {}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
    }
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(config))
    (tmp_path / "hash-key").write_bytes(b"k" * 32)
    return {
        "KUBECONFIG": str(tmp_path / "kubeconfig"),
        "LLDAP_URL": "http://127.0.0.1:1",
        "LLDAP_ADMIN_PASSWORD": PASSWORD,
        "LLDAP_PASSWORD_HASH_KEY_FILE": str(tmp_path / "hash-key"),
        "METRICS_ADDRESS": "127.0.0.1:0",
        "HEALTH_ADDRESS": "0",
        "LEADER_ELECT": "true",
        "POD_NAMESPACE": "lldap-operator",
        "POD_NAME": "pod-1",
        "LOG_FORMAT": "text",
    }


def assembly(environ: dict[str, str], redactor: Redactor | None = None) -> Assembly:
    return Assembly(load(environ, {}, {}), redactor or Redactor(), Stop())


class NoRecorder:
    def event(self, *_: Any) -> None:
        raise AssertionError("nothing is told here")


USER = Resource(
    {
        "kind": "LldapUser",
        "metadata": {"name": "a", "namespace": "b", "uid": "u", "resourceVersion": "1"},
        "spec": {},
    }
)


def test_nothing_begins_and_nothing_is_asked_when_a_process_is_put_together(
    environ: dict[str, str],
) -> None:
    before = set(threading.enumerate())
    manager = assembly(environ).manager()
    assert set(threading.enumerate()) == before
    assert set(manager.readiness()) == {
        "cluster",
        "lldapusers",
        "lldapgroups",
        "lldapmemberships",
        "lldapattributeschemas",
        "secrets",
    }
    assert manager.readiness()["lldapusers"]() == "not listed yet"
    assert manager.liveness()["threads"]() is None


@pytest.fixture
def server(environ: dict[str, str]) -> Iterator[RawServer]:
    """An API server that answers the same to everything; `environ` leads there."""
    with RawServer(serve(lambda peer: peer.answer(ANSWER))) as server:
        kubeconfig = Path(environ["KUBECONFIG"])
        kubeconfig.write_text(kubeconfig.read_text().replace("http://127.0.0.1:1", server.url))
        yield server


def requests_of(server: RawServer) -> list[str]:
    return [first.split("?")[0] for first, _, _ in server.requests]


def test_no_write_passes_the_fence_of_a_replica_that_does_not_lead(
    environ: dict[str, str], server: RawServer
) -> None:
    made = assembly(environ)
    operator = made._operator("cluster-1", ObjectEvents(NoRecorder()))
    kube = operator.instance.kube
    with pytest.raises(NotLeader):
        kube.apply_status(USER, {})
    assert operator._parts.session._before_write == made._elector.fence
    assert requests_of(server) == []
    kube.namespace("lldap-operator")  # reading is free
    made._unfenced.post("/apis/events.k8s.io/v1/namespaces/x/events", {})
    assert [each.split(" ")[0] for each in requests_of(server)] == ["GET", "POST"]
    made._api.close()


def test_without_an_election_writes_pass_from_the_first_step_on(
    environ: dict[str, str], server: RawServer
) -> None:
    made = assembly({**environ, "LEADER_ELECT": "false"})
    kube = made._operator("cluster-1", ObjectEvents(NoRecorder())).instance.kube
    assert isinstance(made._elector, NoElection)
    with pytest.raises(NotLeader):
        kube.apply_status(USER, {})
    assert requests_of(server) == []
    made._elector.step()
    kube.apply_status(USER, {})
    assert [each.split(" ")[0] for each in requests_of(server)] == ["PATCH"]
    made._api.close()


def test_the_password_is_kept_out_of_the_log_from_its_first_use_on(
    environ: dict[str, str],
) -> None:
    redactor = Redactor()
    made = assembly(environ, redactor)
    operator = made._operator("cluster-1", ObjectEvents(NoRecorder()))
    with pytest.raises(LldapConnectionFailed):
        operator.instance.client.own_groups()
    assert redactor.redact(f"it is {PASSWORD}!") == f"it is {REDACTED}!"


def test_the_metrics_follow_the_operator(environ: dict[str, str]) -> None:
    made = assembly(environ)
    made._operator("cluster-1", ObjectEvents(NoRecorder()))
    page = generate_latest(made._metrics.registry).decode()
    assert "lldap_operator_gate_open 1.0" in page  # it does not lead: no work waits
    assert "lldap_operator_mirror_age_seconds NaN" in page
    assert "lldap_operator_dead_marks 0.0" in page
    assert 'controller_runtime_max_concurrent_reconciles{controller="LldapUser"} 16.0' in page


def test_a_file_that_goes_between_the_look_at_it_and_its_use_is_a_mistake(
    environ: dict[str, str],
) -> None:
    made = assembly(environ)
    Path(environ["LLDAP_PASSWORD_HASH_KEY_FILE"]).unlink()
    with pytest.raises(ConfigError, match="LLDAP_PASSWORD_HASH_KEY_FILE"):
        made._operator("cluster-1", ObjectEvents(NoRecorder()))


def test_a_server_that_cannot_listen_takes_the_others_with_it(environ: dict[str, str]) -> None:
    config = load({**environ, "HEALTH_ADDRESS": "256.0.0.1:1"}, {}, {})
    with pytest.raises(ConfigError, match="HEALTH_ADDRESS"):
        Assembly(config, Redactor(), Stop())._serve({}, {})
