"""The product's informers see on the sandbox what there is, whatever happens to the server."""

import random

import pytest

from informers import ListWatch, RestClient, SharedInformer
from informers.errors import ConnectionFailed
from sandbox.apiserver.objects import Object
from sandbox.apiserver.transport import Call, InProcessTransport
from tests.sandbox.apiserver_client import CRDS, GROUP, KINDS, USERS, Client, user

STEPS = 150


class Weather:
    """Writes, and every now and then a fault."""

    def __init__(
        self, client: Client, transport: InProcessTransport, source: random.Random
    ) -> None:
        self._client = client
        self._transport = transport
        self._random = source
        transport.before = self._fail_sometimes
        self.is_bad = True

    def _fail_sometimes(self, call: Call) -> None:
        if self.is_bad and self._random.random() < 0.1:
            raise ConnectionFailed(call.path, sent=False)

    def blow(self) -> None:
        name = self._random.choice("abcdef")
        self._random.choice(
            (self._create, self._create, self._change, self._delete, self._compact, self._crd)
        )(name)

    def _create(self, name: str) -> None:
        self._client.call("POST", USERS, user(name))

    def _change(self, name: str) -> None:
        body = {"spec": {"displayName": str(self._random.random())}}
        self._client.call(
            "PATCH", f"{USERS}/{name}", body, content_type="application/merge-patch+json"
        )

    def _delete(self, name: str) -> None:
        self._client.call("DELETE", f"{USERS}/{name}")

    def _compact(self, _: str) -> None:
        if self._random.random() < 0.2:
            self._client.server.store.compact(f"lldapusers.{GROUP}")

    def _crd(self, _: str) -> None:
        if self._random.random() < 0.1:
            crd = self._client.ok("GET", f"{CRDS}/lldapusers.{GROUP}")
            names = crd["spec"]["names"]
            names["shortNames"] = ["llu", f"u{self._random.randrange(9)}"]
            self._client.ok("PUT", f"{CRDS}/lldapusers.{GROUP}", crd)


def plain(obj: Object) -> Object:
    """An object without what the informer drops."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return {**obj, "metadata": metadata}


@pytest.mark.parametrize("seed", range(10))
def test_the_lister_ends_up_with_what_the_server_has(seed: int) -> None:
    client = Client()
    client.install("crds")
    source = random.Random(seed)
    transport = InProcessTransport(client.server)
    weather = Weather(client, transport, source)
    rest = RestClient(transport, call_seconds=5.0, monotonic=client.clock.monotonic)
    informer = SharedInformer(
        ListWatch(rest, f"{KINDS}/lldapusers"), clock=client.clock, random=source, name="users"
    )
    (reflector,) = informer.reflectors
    for _ in range(STEPS):
        weather.blow()
        client.clock.advance(min(reflector.step(), 60.0))
    weather.is_bad = False
    for _ in range(100):
        client.clock.advance(min(reflector.step(), 60.0))
    listed = [plain(obj) for obj in client.ok("GET", f"{KINDS}/lldapusers")["items"]]
    known = sorted(informer.store.list(), key=lambda obj: str(obj["metadata"]["name"]))
    assert [plain(obj) for obj in known] == listed
