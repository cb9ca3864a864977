"""How the tests of the sandbox's lldap talk to it."""

import base64
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lldap.opaque import Client, ClientV07, ClientV40, KeptKey, Version
from sandbox.lldap.exchange import Response
from sandbox.lldap.opaque import cheap_stretching
from sandbox.lldap.server import Lldap
from tests.support.clock import FakeClock

# What goes in and out as JSON.
Json = Any
ADMIN_PASSWORD = "admin-password-1"
JSON = {"Content-Type": "application/json"}


def new_lldap(clock: FakeClock | None = None, **options: Json) -> Lldap:
    return Lldap(
        clock or FakeClock(),
        admin_password=ADMIN_PASSWORD,
        rng=random.Random(1),
        stretch=cheap_stretching,
        **options,
    )


def post(lldap: Lldap, path: str, value: object, headers: Mapping[str, str] = JSON) -> Response:
    return lldap.handle("POST", path, {**JSON, **headers}, json.dumps(value).encode())


def client(version: Version = Version.V0_7) -> Client:
    if version is Version.V4_0:
        return ClientV40()
    return ClientV07(random=random.Random(2).randbytes, stretch=cheap_stretching)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@dataclass(frozen=True)
class Session:
    lldap: Lldap
    token: str
    refresh_token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def send(self, query: str, **variables: Json) -> Response:
        request = {"query": query, "variables": variables}
        return post(self.lldap, "/api/graphql", request, self.headers)

    def data(self, query: str, **variables: Json) -> Json:
        answer = json.loads(self.send(query, **variables).body)
        assert "errors" not in answer, answer
        return answer["data"]

    def error(self, query: str, **variables: Json) -> str:
        answer = json.loads(self.send(query, **variables).body)
        assert answer["data"] is None
        return str(answer["errors"][0]["message"])

    def create_user(self, user_id: str, **fields: Json) -> Json:
        user = {"id": user_id, "email": f"{user_id}@example.com", **fields}
        query = "mutation($u:CreateUserInput!){createUser(user:$u){id uuid}}"
        return self.data(query, u=user)["createUser"]

    def update_user(self, user_id: str, **fields: Json) -> str:
        """The error, "" if there is none."""
        query = "mutation($u:UpdateUserInput!){updateUser(user:$u){ok}}"
        answer = json.loads(self.send(query, u={"id": user_id, **fields}).body)
        return str(answer["errors"][0]["message"]) if "errors" in answer else ""

    def add_attribute(self, name: str, kind: str = "STRING", **flags: bool) -> None:
        given = {"isList": False, "isVisible": True, "isEditable": True, **flags}
        arguments = "".join(f",{flag}:{str(value).lower()}" for flag, value in given.items())
        self.data(
            f'mutation{{addUserAttribute(name:"{name}",attributeType:{kind}{arguments}){{ok}}}}'
        )

    def attributes(self, user_id: str) -> dict[str, list[str]]:
        query = "query($i:String!){user(userId:$i){attributes{name value}}}"
        shown = self.data(query, i=user_id)["user"]["attributes"]
        return {each["name"]: each["value"] for each in shown}

    def add_member(self, user_id: str, group_id: int) -> None:
        query = "mutation($u:String!,$g:Int!){addUserToGroup(userId:$u,groupId:$g){ok}}"
        self.data(query, u=user_id, g=group_id)

    def register(
        self, user_id: str, password: str, version: Version = Version.V0_7
    ) -> tuple[int, int]:
        """The statuses of both steps."""
        registration = client(version).begin_registration(password.encode(), KeptKey())
        started = post(
            self.lldap,
            "/auth/opaque/register/start",
            {"username": user_id, "registration_start_request": encoded(registration.request)},
            self.headers,
        )
        if started.status != 200:
            return started.status, 0
        answer = json.loads(started.body)
        upload = registration.finish(base64.b64decode(answer["registration_response"]))
        finished = post(
            self.lldap,
            "/auth/opaque/register/finish",
            {"server_data": answer["server_data"], "registration_upload": encoded(upload)},
        )
        return started.status, finished.status


def simple_login(lldap: Lldap, user_id: str, password: str) -> Response:
    return post(lldap, "/auth/simple/login", {"username": user_id, "password": password})


def log_in(lldap: Lldap, user_id: str = "admin", password: str = ADMIN_PASSWORD) -> Session:
    answer = simple_login(lldap, user_id, password)
    assert answer.status == 200, answer
    tokens = json.loads(answer.body)
    return Session(lldap, tokens["token"], tokens["refreshToken"])


def proves(
    lldap: Lldap,
    user_id: str,
    password: str,
    version: Version = Version.V0_7,
    path: str = "/auth/opaque/login/start",
) -> bool | int:
    """Whether the password is proved, or the status if lldap refuses to begin."""
    proof = client(version).begin_proof(password.encode(), KeptKey())
    body = {"username": user_id, "login_start_request": encoded(proof.request)}
    answer = post(lldap, path, body)
    if answer.status != 200:
        return answer.status
    return proof.check(base64.b64decode(json.loads(answer.body)["credential_response"]))
