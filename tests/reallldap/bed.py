"""A bed whose lldap is a real one, somewhere else; the API server is the sandbox's or real."""

import functools
from collections.abc import Mapping
from typing import Any, Final

import orjson
import requests

from lldap.opaque import Argon2
from sandbox.controlplane import ControlPlane
from sandbox.lldap.exchange import Call, Entry, Response
from sandbox.lldap.faults import ConnectionLostError, Forward, Hook
from tests.support.bed import ADMIN_PASSWORD, Bed
from tests.support.realbed import RealBed

SECONDS: Final = 30.0
DIRECTORY: Final = """{
  users { id email displayName firstName lastName attributes { name value } groups { displayName } }
  groups { displayName attributes { name value } users { id } }
  schema {
    userSchema { attributes { name attributeType isList isVisible isEditable isHardcoded } }
    groupSchema { attributes { name attributeType isList isVisible isEditable isHardcoded } }
  }
}"""


class RealLldap:
    """Has of the embedded lldap what a Bed needs, and sends every call on by HTTP. One thread."""

    def __init__(self, url: str, clock: Any) -> None:
        self.clock = clock
        self.hooks: list[Hook] = []
        self.log: list[Entry] = []
        self._url = url.rstrip("/")
        self._http = requests.Session()
        self._http.trust_env = False
        self._http.headers["Connection"] = "close"  # lldap ends an idle one just as it is used

    def send(self, call: Call) -> Response:
        """See sandbox.lldap.server.Lldap."""
        entry = Entry(call)
        self.log.append(entry)
        forward: Forward = self._forward
        for hook in reversed(self.hooks):
            forward = functools.partial(_forwarded, hook, forward)
        response = forward(call)
        entry.status = response.status
        return response

    def handle(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Response:
        """See sandbox.lldap.server.Lldap."""
        return self._forward(Call("", method, path, headers, body))

    def _forward(self, call: Call) -> Response:
        try:
            answer = self._http.request(
                call.method,
                self._url + call.path,
                headers=dict(call.headers),
                data=call.data,
                timeout=SECONDS,
                allow_redirects=False,
            )
        except requests.RequestException as error:
            raise ConnectionLostError(sent=True) from error
        return Response(answer.status_code, list(answer.headers.items()), answer.content)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


def _forwarded(hook: Hook, forward: Forward, call: Call) -> Response:
    return hook(call, forward)


def _use_real(bed: Bed, url: str) -> None:
    """Put a real lldap in the place of the embedded one, before an operator starts."""
    bed.lldap = RealLldap(url, bed.clock)  # type: ignore[assignment]  # has what a Bed needs of it
    bed.stretch = Argon2(permits=1)


def hang_up(bed: Bed) -> None:
    """Close the connection to a bed's real lldap."""
    real: object = bed.lldap
    assert isinstance(real, RealLldap)
    real.close()


class RealLldapBed(Bed):
    """The sandbox's API server and a real lldap."""

    url = ""

    def start(self, **options: Any) -> Any:
        if not isinstance(self.lldap, RealLldap):
            _use_real(self, self.url)
        return super().start(**options)


class AllRealBed(RealBed):
    """A real API server and a real lldap."""

    def __init__(self, plane: ControlPlane, url: str, **rules: Any) -> None:
        super().__init__(plane, **rules)
        _use_real(self, url)


class LldapAdmin:
    """The administrator of a bed's lldap, real or not, by its own interface."""

    def __init__(self, bed: Bed, user: str = "admin", password: str = ADMIN_PASSWORD) -> None:
        self._bed = bed
        credentials = orjson.dumps({"username": user, "password": password})
        headers = {"content-type": "application/json"}
        answer = bed.lldap.handle("POST", "/auth/simple/login", headers, credentials)
        assert answer.status == 200, answer
        self._token = orjson.loads(answer.body)["token"]

    def ask(self, query: str, **variables: Any) -> Any:
        """The answer's data, or its errors' texts."""
        headers = {
            "content-type": "application/json",
            "authorization": f"Bearer {self._token}",
        }
        body = orjson.dumps({"query": query, "variables": variables})
        answer = orjson.loads(self._bed.lldap.handle("POST", "/api/graphql", headers, body).body)
        return [each["message"] for each in answer.get("errors") or []] or answer["data"]

    def directory(self) -> Any:
        """Everything that stands there, without what differs each time."""
        found = self.ask(DIRECTORY)
        for each in [*found["users"], *found["groups"]]:
            each["attributes"] = {
                a["name"]: "…" if _varies(a["name"]) else a["value"]
                for a in sorted(each["attributes"], key=lambda a: a["name"])
            }
        for user in found["users"]:
            user["groups"] = sorted(group["displayName"] for group in user["groups"])
        for group in found["groups"]:
            group["users"] = sorted(user["id"] for user in group["users"])
        found["users"].sort(key=lambda user: user["id"])
        found["groups"].sort(key=lambda group: group["displayName"])
        for schema in found["schema"].values():
            schema["attributes"].sort(key=lambda attribute: attribute["name"])
        return found

    def identities(self) -> dict[str, str]:
        """The uuids of users and groups by name."""
        found = self.ask("{users {id uuid} groups {displayName uuid}}")
        users = {user["id"]: user["uuid"] for user in found["users"]}
        return users | {f"group {each['displayName']}": each["uuid"] for each in found["groups"]}

    def make_user(self, name: str, email: str = "") -> Any:
        user = {"id": name, "email": email or f"{name}@by-hand.example"}
        return self.ask("mutation($u: CreateUserInput!) {createUser(user: $u) {id}}", u=user)

    def make_group(self, name: str, *members: str) -> int:
        query = "mutation($n: String!) {createGroup(name: $n) {id}}"
        number: int = self.ask(query, n=name)["createGroup"]["id"]
        for member in members:
            self.add(member, number)
        return number

    def add(self, user: str, group: int) -> Any:
        query = "mutation($u: String!, $g: Int!) {addUserToGroup(userId: $u, groupId: $g) {ok}}"
        return self.ask(query, u=user, g=group)

    def update_user(self, name: str, **change: Any) -> Any:
        query = "mutation($u: UpdateUserInput!) {updateUser(user: $u) {ok}}"
        return self.ask(query, u={"id": name, **change})

    def delete_user(self, name: str) -> Any:
        return self.ask("mutation($u: String!) {deleteUser(userId: $u) {ok}}", u=name)


def _varies(attribute: str) -> bool:
    return attribute.endswith("_date") or attribute in {"uuid", "group_id", "kubernetes-owner"}
