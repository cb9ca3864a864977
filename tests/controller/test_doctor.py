"""`lldap-operator doctor`: each thing that can be wrong is found and named, and nothing changes."""

import random
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.api import GROUP, KINDS, LLDAP_USER, MARK_ATTRIBUTE
from controller.cli import main
from controller.clock import SystemClock
from informers import RestClient
from lldap.names import LLDAP_ADMIN
from sandbox.apiserver.app import ApiServer
from sandbox.apiserver.authorization import ADMIN, Authenticator, Authorizer, Rule
from sandbox.apiserver.authorization import User as ApiUser
from sandbox.apiserver.http import ApiServerHttp
from sandbox.apiserver.transport import InProcessTransport
from sandbox.lldap.opaque import cheap_stretching
from sandbox.lldap.server import Lldap
from sandbox.lldap.tables import Attribute
from tests.support.certificates import Authority
from tests.support.envtest import ROOT
from tests.support.live import ADMIN_PASSWORD, LiveLldap, new_lldap
from tests.support.proxy import Proxy

pytestmark = pytest.mark.slow

MERGE = "application/merge-patch+json"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/lldap-operator/leases"
OBJECTS = f"/apis/{GROUP}/v1alpha1"
SOMEBODY = ApiUser("somebody", groups=("system:authenticated",))


class Ward:
    """An API server and an lldap as they should be, and a way to call the doctor."""

    def __init__(self, stack: ExitStack, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stack = stack
        self.folder = folder
        self._monkeypatch = monkeypatch
        self.lldap: LiveLldap = new_lldap()
        tokens = {"admin": ADMIN, "somebody": SOMEBODY}
        everything = Rule(verbs=("get", "list"), groups=("*",), resources=("*",))
        self.api = ApiServer(
            SystemClock(),
            random.Random(1),
            authenticator=Authenticator(tokens, without_token=ADMIN),
            authorizer=Authorizer({"somebody": (everything,)}),
        )
        self.admin = RestClient(InProcessTransport(self.api, user="admin"), call_seconds=5.0)
        self._install()
        self.environ = {
            "LLDAP_URL": stack.enter_context(self.lldap.door()),
            "LLDAP_ADMIN_PASSWORD": ADMIN_PASSWORD,
            "POD_NAMESPACE": "lldap-operator",
            "LEADER_ELECT": "true",
            "KUBECONFIG": str(folder / "kubeconfig"),
        }
        (folder / "key").write_text("k" * 32)
        self.environ["LLDAP_PASSWORD_HASH_KEY_FILE"] = str(folder / "key")
        self._server = stack.enter_context(ApiServerHttp(self.api))
        self._server.kubeconfig(folder / "kubeconfig", token="admin")

    def _install(self) -> None:
        for name in ("lldap-operator", "team-a"):
            self.admin.post("/api/v1/namespaces", {"metadata": {"name": name}})
        for folder, path in (("crds", DEFINITIONS), ("policies", "")):
            for file in sorted((ROOT / "deploy" / folder).glob("*.yaml")):
                for document in yaml.safe_load_all(file.read_text()):
                    plural = f"{document['kind'].lower()}s".replace("policys", "policies")
                    self.admin.post(path or f"{ADMISSION}/{plural}", document)

    def ask_as(self, token: str) -> None:
        self._server.kubeconfig(self.folder / "kubeconfig", token=token)

    def doctor(self, capsys: pytest.CaptureFixture[str], **environ: str) -> tuple[int, str]:
        """The exit code and what was said."""
        for name, value in {**self.environ, **environ}.items():
            self._monkeypatch.setenv(name, value)
        code = main(["doctor"])
        said = capsys.readouterr().out
        assert ADMIN_PASSWORD not in said
        return code, said


@pytest.fixture
def ward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ward]:
    with ExitStack() as stack:
        yield Ward(stack, tmp_path, monkeypatch)


Said = pytest.CaptureFixture[str]


def wrongs(said: str) -> list[str]:
    return [line.removeprefix("WRONG   ") for line in said.splitlines() if "WRONG" in line]


def test_nothing_is_wrong_and_nothing_is_changed(ward: Ward, capsys: Said) -> None:
    before = ward.lldap.directory()
    version = ward.admin.get("/api/v1/namespaces")["metadata"]["resourceVersion"]
    code, said = ward.doctor(capsys)
    assert code == 0, said
    assert said.endswith("nothing is wrong\n")
    for expected in (
        "ok      login: admin can log in",
        "ok      passwords: lldap speaks OPAQUE 0.7",
        "ok      rights in Kubernetes: all ",
        "note    mark: kubernetes-owner is added before the first write",
        "note    Lease lldap-operator/lldap-operator-default: nobody leads",
        *(f"ok      {kind.crd_name}: installed" for kind in KINDS),
        "ok      policy lldap-operator-status: installed, and it denies",
    ):
        assert expected in said
    assert ward.lldap.directory() == before
    assert ward.admin.get("/api/v1/namespaces")["metadata"]["resourceVersion"] == version


# --- lldap -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "found", "mend"),
    [
        ("http://127.0.0.1:1", "LLDAP_URL: 127.0.0.1:1 cannot be talked to", "check that lldap"),
        ("http://no-such-host.invalid", "LLDAP_URL: no address is known for no-such", "correct"),
    ],
)
def test_an_lldap_that_cannot_be_reached(
    ward: Ward, capsys: Said, url: str, found: str, mend: str
) -> None:
    code, said = ward.doctor(capsys, LLDAP_URL=url)
    assert code == 1
    assert [line for line in wrongs(said) if line.startswith(found)]
    assert f"-> {mend}" in said
    assert "ok      API server" in said, "the rest is looked at all the same"


def test_something_that_is_no_lldap(ward: Ward, capsys: Said) -> None:
    code, said = ward.doctor(capsys, LLDAP_URL=ward.environ["LLDAP_URL"] + "/elsewhere")
    assert code == 1
    assert "/elsewhere/health answers 404" in said


def test_a_wrong_password(ward: Ward, capsys: Said) -> None:
    code, said = ward.doctor(capsys, LLDAP_ADMIN_PASSWORD="not-this-one")
    assert code == 1
    assert [line for line in wrongs(said) if line.startswith("login: lldap refuses")]
    assert "not-this-one" not in said


def test_an_account_without_rights(ward: Ward, capsys: Said) -> None:
    with ward.lldap.lldap.database() as store:
        store.create_user("helper", "helper@example.org", "Helper")
    ward.lldap.lldap.set_password("helper", "helper-password-1")
    code, said = ward.doctor(
        capsys, LLDAP_ADMIN_USERNAME="helper", LLDAP_ADMIN_PASSWORD="helper-password-1"
    )
    assert code == 1
    assert wrongs(said) == [f"rights: helper is not in {LLDAP_ADMIN}"]


def test_an_lldap_of_another_password_protocol(ward: Ward, capsys: Said) -> None:
    other = LiveLldap(Lldap(SystemClock(), admin_password=ADMIN_PASSWORD, stretch=cheap_stretching))
    url = ward.stack.enter_context(other.door())
    code, said = ward.doctor(capsys, LLDAP_URL=url)
    assert code == 1
    (line,) = wrongs(said)
    assert line.startswith("passwords: lldap speaks neither OPAQUE 0.7 nor 4.0")


def test_an_attribute_in_the_place_of_the_mark(ward: Ward, capsys: Said) -> None:
    with ward.lldap.lldap.database() as store:
        odd = Attribute(MARK_ATTRIBUTE, "STRING", is_editable=True)
        store.state.users.add_attribute(odd, store.state.groups)
    code, said = ward.doctor(capsys)
    assert code == 1
    assert wrongs(said) == ["mark: kubernetes-owner of user is not what the operator makes"]


def test_a_built_in_group_that_is_missing(ward: Ward, capsys: Said) -> None:
    with ward.lldap.lldap.database() as store:
        store.delete_group(3)
    code, said = ward.doctor(capsys)
    assert code == 1
    assert [line for line in wrongs(said) if line.startswith("built-in groups: lldap has no")]


# --- TLS ---------------------------------------------------------------------------------------


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    authority = Authority("ours")
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    return authority


def https(ward: Ward, authority: Authority, **certificate: Any) -> str:
    authority.issue(ward.folder / "tls.crt", ward.folder / "tls.key", **certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ward.folder / "tls.crt", ward.folder / "tls.key")
    return ward.stack.enter_context(Proxy(ward.environ["LLDAP_URL"], tls=context)).url


def test_tls_that_is_trusted(
    ward: Ward, authority: Authority, capsys: Said, tmp_path: Path
) -> None:
    url = https(ward, authority, days=100)
    code, said = ward.doctor(capsys, LLDAP_URL=url, LLDAP_CA_FILE=str(tmp_path / "ca.crt"))
    assert code == 0, said
    assert "ok      TLS: lldap's certificate is trusted" in said


def test_a_certificate_that_ends_soon_is_a_note(
    ward: Ward, authority: Authority, capsys: Said, tmp_path: Path
) -> None:
    url = https(ward, authority, days=3)
    code, said = ward.doctor(capsys, LLDAP_URL=url, LLDAP_CA_FILE=str(tmp_path / "ca.crt"))
    assert code == 0, said
    assert "note    TLS: lldap's certificate ends on" in said


@pytest.mark.parametrize(
    ("certificate", "found"),
    [
        ({"days": -1}, "certificate has expired"),
        ({"host": "127.0.0.2"}, "IP address mismatch"),
    ],
)
def test_a_certificate_that_is_not_right(
    ward: Ward, authority: Authority, capsys: Said, certificate: dict[str, Any], found: str
) -> None:
    url = https(ward, authority, **certificate)
    code, said = ward.doctor(capsys, LLDAP_URL=url, LLDAP_CA_FILE=str(ward.folder / "ca.crt"))
    assert code == 1
    (line,) = wrongs(said)
    assert line.startswith("TLS: 127.0.0.1: ")
    assert found in line


def test_a_certificate_of_an_unknown_authority(
    ward: Ward, authority: Authority, capsys: Said
) -> None:
    code, said = ward.doctor(capsys, LLDAP_URL=https(ward, authority))
    assert code == 1
    assert wrongs(said) == ["TLS: 127.0.0.1: unable to get local issuer certificate"]
    assert "LLDAP_CA_FILE" in said


def test_tls_where_none_is_spoken(ward: Ward, capsys: Said) -> None:
    code, said = ward.doctor(capsys, LLDAP_URL=ward.environ["LLDAP_URL"].replace("http", "https"))
    assert code == 1
    assert "LLDAP_URL may have to begin with http://" in said


# --- the cluster -------------------------------------------------------------------------------


def test_no_api_server(ward: Ward, capsys: Said) -> None:
    ward.ask_as("nobody")
    code, said = ward.doctor(capsys)
    assert code == 1
    assert [line for line in wrongs(said) if line.startswith("API server: GET /version")]


def test_a_missing_definition(ward: Ward, capsys: Said) -> None:
    ward.admin.delete(f"{DEFINITIONS}/{LLDAP_USER.crd_name}")
    code, said = ward.doctor(capsys)
    assert code == 1
    assert f"{LLDAP_USER.crd_name}: the CRD is not installed" in wrongs(said)


def test_a_definition_of_another_release(ward: Ward, capsys: Said) -> None:
    live = ward.admin.get(f"{DEFINITIONS}/{LLDAP_USER.crd_name}")
    properties = live["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    del properties["spec"]["properties"]["displayName"]
    ward.admin.put(f"{DEFINITIONS}/{LLDAP_USER.crd_name}", live)
    code, said = ward.doctor(capsys)
    assert code == 1
    (line,) = wrongs(said)
    assert line.startswith(f"{LLDAP_USER.crd_name}: the CRD is another than this release brings")
    assert "properties.spec.properties.displayName" in line


@pytest.mark.parametrize(
    "plural", ["validatingadmissionpolicies", "validatingadmissionpolicybindings"]
)
def test_a_missing_policy(ward: Ward, capsys: Said, plural: str) -> None:
    ward.admin.delete(f"{ADMISSION}/{plural}/lldap-operator-status")
    code, said = ward.doctor(capsys)
    assert code == 1
    assert wrongs(said) == ["policy lldap-operator-status: it, or its binding, is not installed"]


def test_a_policy_that_only_warns(ward: Ward, capsys: Said) -> None:
    path = f"{ADMISSION}/validatingadmissionpolicybindings/lldap-operator-status"
    ward.admin.patch(path, {"spec": {"validationActions": ["Warn"]}}, content_type=MERGE)
    code, said = ward.doctor(capsys)
    assert code == 1
    (line,) = wrongs(said)
    assert "its binding does not deny" in line


def test_missing_rights_are_named_one_by_one(ward: Ward, capsys: Said) -> None:
    ward.ask_as("somebody")
    code, said = ward.doctor(capsys)
    assert code == 1
    assert f"rights in Kubernetes: may not patch lldapusers.{GROUP}" in wrongs(said)
    assert f"rights in Kubernetes: may not operate lldapgroups.{GROUP}" in wrongs(said)
    assert not [line for line in wrongs(said) if "may not get" in line]


def test_who_leads(ward: Ward, capsys: Said) -> None:
    moment = "2030-01-01T00:00:00.000000Z"
    spec = {"holderIdentity": "pod-1_x", "leaseDurationSeconds": 15, "renewTime": moment}
    body = {"metadata": {"name": "lldap-operator-default"}, "spec": spec}
    ward.admin.post(LEASES, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", **body})
    _, said = ward.doctor(capsys)
    assert "ok      Lease lldap-operator/lldap-operator-default: pod-1_x leads" in said


def test_a_watched_namespace_that_is_not_there_is_a_note(ward: Ward, capsys: Said) -> None:
    code, said = ward.doctor(capsys, WATCH_NAMESPACES="team-a,team-z")
    assert code == 0, said
    assert "note    namespace team-z: is watched and not there" in said


def user_object(ward: Ward, name: str, **metadata: Any) -> dict[str, Any]:
    labels = {f"{GROUP}/lldap-instance": "default"}
    body = {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "LldapUser",
        "metadata": {"name": name, "namespace": "team-a", "labels": labels, **metadata},
        "spec": {"username": name, "email": f"{name}@example.org", "passwordPolicy": "Ignore"},
    }
    return ward.admin.post(f"{OBJECTS}/namespaces/team-a/lldapusers", body)


def test_finalizers_where_nobody_looks_any_more(ward: Ward, capsys: Said) -> None:
    user_object(ward, "alice", finalizers=[LLDAP_USER.finalizer])
    code, said = ward.doctor(capsys, WATCH_NAMESPACES="lldap-operator")
    assert code == 1
    (line,) = wrongs(said)
    assert line.startswith("namespace team-a: objects have our finalizer")
    assert "-> lldap-operator release --namespace team-a" in said
    code, said = ward.doctor(capsys, WATCH_NAMESPACES="lldap-operator,team-a")
    assert code == 0, said


def test_marks_of_objects_that_are_gone(ward: Ward, capsys: Said) -> None:
    cluster = ward.admin.get("/api/v1/namespaces/kube-system")["metadata"]["uid"]
    alice = user_object(ward, "alice")
    with ward.lldap.lldap.database() as store:
        mark = Attribute(MARK_ATTRIBUTE, is_visible=False, is_editable=False)
        store.state.users.add_attribute(mark, store.state.groups)
        for name, uid in (("alice", alice["metadata"]["uid"]), ("bob", "gone")):
            value = [f"created {cluster} default team-a/{name} {uid}"]
            store.create_user(name, f"{name}@example.org", name, {MARK_ATTRIBUTE: value})
    code, said = ward.doctor(capsys)
    assert code == 0, said
    assert "note    marks: marked for objects that are gone: user bob (team-a/bob)" in said


def test_no_hash_key_is_a_note(ward: Ward, capsys: Said) -> None:
    code, said = ward.doctor(capsys, LLDAP_PASSWORD_HASH_KEY_FILE="")
    assert code == 0
    assert "note    LLDAP_PASSWORD_HASH_KEY_FILE" in said


def test_a_configuration_that_cannot_be_used(
    ward: Ward, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLDAP_URL", "")
    assert main(["doctor"]) == 2
    assert "LLDAP_URL: is not set" in capsys.readouterr().err
