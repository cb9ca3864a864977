"""An API server for tests: one a session, a namespace for each test.

Tests that use `control_plane` run on the sandbox's server and on a real one; those marked `sandbox`
or `envtest` on one only. Without KUBEBUILDER_ASSETS those that need a real one are skipped, for one
reason. Under pytest-xdist use `--dist loadfile`: what a module sets up is set up once.
"""

import contextlib
import itertools
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest
import requests
from kubernetes import client
from kubernetes.client.exceptions import NotFoundException

from controller.api import GROUP, INSTANCE_LABEL, KINDS, VERSION, Kind
from sandbox.controlplane import ASSETS_VARIABLE, ControlPlane, User
from tests.support.roles import ROLES
from tests.support.sandboxplane import SandboxPlane

ROOT = Path(__file__).parent.parent.parent
NO_SERVER = (
    f"needs a real API server: set {ASSETS_VARIABLE} to a folder with etcd and kube-apiserver "
    "(make envtest builds one)"
)
CALL_SECONDS = 10.0

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"


def pytest_configure() -> None:
    """A folder may be named from here; tests start programs in other places."""
    if assets := os.environ.get(ASSETS_VARIABLE):
        os.environ[ASSETS_VARIABLE] = str(Path(assets).resolve())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    # Skipped here and not by a mark: pytest counts skips by where they come from.
    if item.get_closest_marker("envtest") and not os.environ.get(ASSETS_VARIABLE):
        pytest.skip(NO_SERVER)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "control_plane" not in metafunc.fixturenames:
        return
    marked = metafunc.definition.get_closest_marker
    servers = [] if marked("envtest") else [pytest.param("sandbox")]
    if not marked("sandbox"):
        servers.append(pytest.param("real", marks=pytest.mark.envtest))
    metafunc.parametrize("control_plane", servers, indirect=True, scope="session")


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest) -> ControlPlane:
    """A server of this session's own; its users are `admin`, `operator` and `tenant`."""
    plane: ControlPlane = request.getfixturevalue(f"{request.param}_plane")
    return plane


@pytest.fixture(scope="session")
def sandbox_plane() -> Iterator[ControlPlane]:
    with SandboxPlane(ROLES) as plane:
        yield plane


@pytest.fixture(scope="session")
def real_plane() -> Iterator[ControlPlane]:
    with real_plane_of_its_own() as plane:
        yield plane


def real_plane_of_its_own() -> ControlPlane:
    """A real API server of which a test may take away what others need; not started yet."""
    return ControlPlane(Path(os.environ[ASSETS_VARIABLE]))


@pytest.fixture(scope="session")
def crds(control_plane: ControlPlane) -> ControlPlane:
    """The server, with our CRDs installed and served. The policies are not installed."""
    control_plane.install(ROOT / "deploy" / "crds")
    return control_plane


@pytest.fixture
def namespace(crds: ControlPlane) -> Iterator[str]:
    """A new namespace; what is in it goes with it, finalizers or not."""
    with new_namespace(crds) as name:
        yield name


@pytest.fixture(scope="module")
def module_namespace(crds: ControlPlane) -> Iterator[str]:
    """A namespace for all tests of a module, for those that need none of their own: see `key`."""
    with new_namespace(crds) as name:
        yield name


class Key(NamedTuple):
    """Which object of a kind it is."""

    namespace: str
    name: str

    def also(self, suffix: str) -> "Key":
        """Another object of the same test."""
        return Key(self.namespace, f"{self.name}-{suffix}")


@pytest.fixture
def key(module_namespace: str) -> Key:
    """An object that no other test has; much quicker than a namespace of its own."""
    return Key(module_namespace, f"object-{next(_numbers)}")


_numbers = itertools.count()


@contextmanager
def new_namespace(plane: ControlPlane) -> Iterator[str]:
    """Make a namespace for the time of the block."""
    name = f"test-{next(_numbers)}"
    with plane.client(plane.admin) as api:
        client.CoreV1Api(api).create_namespace({"metadata": {"name": name}})
    try:
        yield name
    finally:
        with plane.client(plane.admin) as api:
            drop_finalizers(api, name)
            end_namespace(api, name)


def drop_finalizers(api: client.ApiClient, namespace: str) -> None:
    """Take every finalizer off our objects in the namespace, as nobody else will."""
    custom = client.CustomObjectsApi(api)
    for kind in KINDS:
        for obj in custom.list_namespaced_custom_object(GROUP, VERSION, namespace, kind.plural)[
            "items"
        ]:
            if obj["metadata"].get("finalizers"):
                custom.patch_namespaced_custom_object(
                    GROUP,
                    VERSION,
                    namespace,
                    kind.plural,
                    obj["metadata"]["name"],
                    {"metadata": {"finalizers": None}},
                )


def end_namespace(api: client.ApiClient, namespace: str, *, seconds: float = 10.0) -> None:
    """Delete a namespace as the namespace controller would, which this server has not.

    Its objects are deleted, then it waits for their finalizers (TimeoutError after `seconds`,
    naming what is left), then the namespace is finalized and gone.
    """
    core, custom = client.CoreV1Api(api), client.CustomObjectsApi(api)
    core.delete_namespace(namespace)
    for kind in KINDS:
        custom.delete_collection_namespaced_custom_object(GROUP, VERSION, namespace, kind.plural)
    core.delete_collection_namespaced_secret(namespace)
    deadline = time.monotonic() + seconds
    while left := _objects(custom, namespace):
        if time.monotonic() > deadline:
            raise TimeoutError(f"still in namespace {namespace}: {', '.join(left)}")
        time.sleep(0.05)
    with contextlib.suppress(NotFoundException):  # the sandbox ends namespaces itself
        core.replace_namespace_finalize(
            namespace, {"metadata": {"name": namespace}, "spec": {"finalizers": []}}
        )
    _wait_until_gone(core, namespace, deadline)


def _wait_until_gone(core: client.CoreV1Api, namespace: str, deadline: float) -> None:
    while True:
        try:
            core.read_namespace(namespace)
        except NotFoundException:
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"namespace {namespace} does not end")
        time.sleep(0.05)


def _objects(custom: client.CustomObjectsApi, namespace: str) -> list[str]:
    return [
        f"{kind.kind} {obj['metadata']['name']}"
        for kind in KINDS
        for obj in custom.list_namespaced_custom_object(GROUP, VERSION, namespace, kind.plural)[
            "items"
        ]
    ]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said to one request."""

    status: int
    body: Mapping[str, Any]
    warning: str

    @property
    def ok(self) -> bool:
        return self.status < 300

    @property
    def causes(self) -> dict[str, str]:
        """The refusals by field."""
        causes: dict[str, str] = {}
        for cause in self.body.get("details", {}).get("causes", ()):
            field = cause.get("field", "")
            causes[field] = f"{causes.get(field, '')}{cause['reason']}: {cause['message']}\n"
        return causes


class Api:
    """Sends requests as one user, exactly as given, and hands back what the server said."""

    def __init__(self, url: str, session: requests.Session) -> None:
        self._url = url
        self._session = session

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = "application/json",
        accept: str = "application/json",
        **parameters: str,
    ) -> Answer:
        answer = self._session.request(
            method,
            self._url + path,
            params=parameters,
            data=None if body is None else orjson.dumps(body),
            headers={"Content-Type": content_type, "Accept": accept},
            timeout=CALL_SECONDS,
        )
        return Answer(
            answer.status_code, orjson.loads(answer.content), answer.headers.get("Warning", "")
        )

    def create(self, kind: Kind, obj: Mapping[str, Any], **parameters: str) -> Answer:
        parameters.setdefault("fieldValidation", "Strict")
        path = collection(kind, obj["metadata"]["namespace"])
        return self.call("POST", path, obj, **parameters)

    def get(self, kind: Kind, namespace: str, name: str) -> Answer:
        return self.call("GET", f"{collection(kind, namespace)}/{name}")

    def delete(self, kind: Kind, namespace: str, name: str) -> Answer:
        return self.call("DELETE", f"{collection(kind, namespace)}/{name}")

    def patch(
        self,
        kind: Kind,
        obj: Mapping[str, Any],
        body: object,
        *,
        content_type: str = MERGE,
        subresource: str = "",
        **parameters: str,
    ) -> Answer:
        """Patch the object that `obj` names."""
        metadata = obj["metadata"]
        path = f"{collection(kind, metadata['namespace'])}/{metadata['name']}{subresource}"
        return self.call("PATCH", path, body, content_type=content_type, **parameters)

    def apply(self, kind: Kind, obj: Mapping[str, Any], **parameters: str) -> Answer:
        """Server-side apply `obj`, to its status with subresource="/status"."""
        parameters = {"fieldManager": "tests", "fieldValidation": "Strict"} | parameters
        return self.patch(kind, obj, obj, content_type=APPLY, **parameters)


def collection(kind: Kind, namespace: str) -> str:
    return f"/apis/{GROUP}/{VERSION}/namespaces/{namespace}/{kind.plural}"


def manifest(kind: Kind, key: Key, spec: Mapping[str, Any], **metadata: object) -> dict[str, Any]:
    """Return an object with the instance label; `metadata` adds to or replaces its metadata."""
    base = {**key._asdict(), "labels": {INSTANCE_LABEL: "default"}}
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": base | metadata,
        "spec": dict(spec),
    }


@pytest.fixture
def api_of(crds: ControlPlane) -> Iterator[Callable[[User], Api]]:
    """Make an Api for a user of the server; its connections end with the test."""
    with ExitStack() as stack:
        yield lambda user: Api(crds.url, stack.enter_context(crds.session(user)))


@pytest.fixture
def admin(crds: ControlPlane, api_of: Callable[[User], Api]) -> Api:
    """The API as an administrator of the cluster sees it."""
    return api_of(crds.admin)
