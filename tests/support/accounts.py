"""What the tests of users and passwords do and count on a bed."""

import base64
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from controller.harness.resource import Object
from lldap.opaque import ClientV07, ClientV40, KeptKey, Version
from sandbox.apiserver.transport import Call as ApiCall
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward, Hook, answer
from tests.support.bed import ADMIN_PASSWORD, Bed

FIRST, SECOND = b"the first password", b"the second password"
LOGIN = "/auth/simple/login"
REGISTER_START = "/auth/opaque/register/start"
REGISTER_FINISH = "/auth/opaque/register/finish"
PROOF_START = "/auth/opaque/login/start"

# --- what people do ------------------------------------------------------------------------


def reference(secret: str = "pw", key: str = "password") -> dict[str, str]:
    return {"name": secret, "key": key}


def with_password(bed: Bed, name: str = "alice", policy: str = "Manage", **spec: Any) -> Object:
    """Apply a user whose password is in the Secret `pw`."""
    spec = {"passwordPolicy": policy, "passwordSecretRef": reference(), **spec}
    return bed.user(name, **spec)


def settled_user(bed: Bed, name: str = "alice", policy: str = "Manage", **spec: Any) -> None:
    """A user who is Ready; the logs begin after that."""
    bed.secret("pw", FIRST)
    with_password(bed, name, policy, **spec)
    bed.run(3)
    assert bed.ready("LldapUser", name) == ("True", "Verified")
    forget_the_past(bed)


def forget_the_past(bed: Bed) -> None:
    bed.clear_logs()
    bed.events.seen.clear()


def resync(bed: Bed, times: int = 1) -> None:
    """Let the drift resync come round."""
    bed.run(700.0 * times, step=70.0)


def attributes(**values: list[str]) -> list[dict[str, Any]]:
    return [{"name": name.replace("_", "-"), "value": value} for name, value in values.items()]


def delete_secret(bed: Bed, name: str = "pw", namespace: str = "team-a") -> None:
    bed.admin.delete(f"/api/v1/namespaces/{namespace}/secrets/{name}")


def secret_with(bed: Bed, data: dict[str, bytes], name: str = "pw", **metadata: Any) -> None:
    """Apply a Secret with just these keys."""
    path = f"/api/v1/namespaces/team-a/secrets/{name}"
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "team-a", **metadata},
        "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
    }
    apply = "application/apply-patch+yaml"
    bed.admin.patch(path, body, content_type=apply, field_manager="person", force=True)


def write_status(bed: Bed, status: Object, name: str = "alice", namespace: str = "team-a") -> None:
    """As whoever may write statuses can."""
    found = bed.get("LldapUser", name, namespace)
    bed.admin.put(bed.path("LldapUser", namespace, name) + "/status", {**found, "status": status})


def restart_without_status(bed: Bed, **options: Any) -> None:
    """The operator is down while the status is lost, as in a restore from a backup."""
    write_status(bed, {})
    forget_the_past(bed)
    bed.start(**options)
    bed.run(3)


def register_in(bed: Bed, version: Version, user_id: str, password: bytes) -> None:
    """Register as a client does that does not ask which version the server speaks."""
    credentials = {"username": "admin", "password": ADMIN_PASSWORD}
    token = _post(bed, LOGIN, credentials)["token"]
    v07 = ClientV07(random=os.urandom, stretch=bed.stretch)
    client = v07 if version is Version.V0_7 else ClientV40()
    registration = client.begin_registration(password, KeptKey())
    request = base64.b64encode(registration.request).decode()
    start = {"username": user_id, "registration_start_request": request}
    answered = _post(bed, REGISTER_START, start, token)
    upload = registration.finish(base64.b64decode(answered["registration_response"]))
    encoded = base64.b64encode(upload).decode()
    finish = {"server_data": answered["server_data"], "registration_upload": encoded}
    _post(bed, REGISTER_FINISH, finish, token)


def _post(bed: Bed, path: str, body: Object, token: str = "") -> Any:
    headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
    answered = bed.lldap.handle("POST", path, headers, orjson.dumps(body))
    assert answered.status == 200, answered
    return orjson.loads(answered.body or b"{}")


# --- what came of it -----------------------------------------------------------------------


def status(bed: Bed, name: str = "alice", namespace: str = "team-a") -> Object:
    found: Object = bed.get("LldapUser", name, namespace).get("status", {})
    return found


def account(bed: Bed, user_id: str = "alice") -> dict[str, Any]:
    """What lldap has of an account, but for the mark, the dates and the password."""
    with bed.lldap.database() as store:
        row = store.state.users.rows[user_id]
        columns = {k: v for k, v in row.columns.items() if not k.endswith("date") and k != "uuid"}
        values = {k: list(v) for k, v in row.attributes.items() if k != "kubernetes-owner"}
        return {**columns, **values}


def has_account(bed: Bed, user_id: str = "alice") -> bool:
    with bed.lldap.database() as store:
        return user_id in store.state.users.rows


def password_date(bed: Bed, user_id: str = "alice") -> str:
    with bed.lldap.database() as store:
        return store.state.users.rows[user_id].columns["password_modified_date"]


def can_log_in(bed: Bed, password: bytes = FIRST, user_id: str = "alice") -> bool:
    return bed.login(user_id, password.decode()) == 200


def calls_of(bed: Bed, operation: str) -> list[Call]:
    """The operator's calls of one operation."""
    return [
        entry.call
        for entry in bed.lldap.log
        if entry.call.operation == operation and entry.call.caller == "operator"
    ]


def sent_users(bed: Bed, operation: str) -> list[Object]:
    """What createUser or updateUser was given, without what was left out."""
    given = [orjson.loads(call.data)["variables"]["user"] for call in calls_of(bed, operation)]
    return [{k: v for k, v in user.items() if v not in (None, [])} for user in given]


def registrations(bed: Bed, user_id: str | None = None) -> int:
    """How often the operator began to register a password."""
    return _for_user(calls_of(bed, REGISTER_START), user_id)


def proofs(bed: Bed, user_id: str = "alice") -> int:
    """How often the operator compared the user's password with lldap's."""
    return _for_user(calls_of(bed, PROOF_START), user_id)


def _for_user(calls: list[Call], user_id: str | None) -> int:
    return sum(user_id in (None, orjson.loads(call.data)["username"]) for call in calls)


def secret_reads(bed: Bed) -> list[str]:
    """The Secrets that the operator read with their values."""
    return [
        answered.call.path.partition("/namespaces/")[2]
        for answered in bed.api_transport.calls
        if "/secrets" in answered.call.path
        and "PartialObjectMetadata" not in answered.call.headers.get("accept", "")
    ]


def touching(bed: Bed, name: str = "alice") -> list[tuple[str, str]]:
    """The operator's writes to one user object: method, and what of it."""
    return [
        (method, path.rpartition(f"/lldapusers/{name}")[2])
        for method, path in bed.api_writes()
        if f"/lldapusers/{name}" in path
    ]


# --- faults ----------------------------------------------------------------------------------


class Crash(BaseException):
    """The process ends here: nobody catches it on its way."""


@contextmanager
def crashing(bed: Bed, number: int, *, after: bool) -> Iterator[Callable[[], bool]]:
    """The process ends at the operator's call `number` (from 1), before or after its effect.

    Calls are those to lldap and the writes to the API server. Yields what tells whether it came
    to that.
    """
    count, crashed = 0, False

    def hit() -> bool:
        nonlocal count, crashed
        count += 1
        crashed |= count == number
        return count == number

    def hook(call: Call, forward: Forward) -> Response:
        now = call.caller == "operator" and hit()
        if now and not after:
            raise Crash
        response = forward(call)
        if now:
            raise Crash
        return response

    bed.lldap.hooks.append(hook)
    _crash_api(bed, hit, after=after)
    try:
        yield lambda: crashed
    finally:
        bed.lldap.hooks.remove(hook)


def _crash_api(bed: Bed, hit: Callable[[], bool], *, after: bool) -> None:
    doomed = False

    def before(call: ApiCall) -> None:
        nonlocal doomed
        doomed = call.method != "GET" and hit()
        if doomed and not after:
            raise Crash

    def afterwards(_call: ApiCall, _status: int) -> None:
        if doomed:
            raise Crash

    bed.api_transport.before = before
    bed.api_transport.after = afterwards


def crash_and_restart(
    bed: Bed, number: int, *, after: bool, meanwhile: Callable[[], object] = lambda: None
) -> bool:
    """Work with a crash at a call and a new process after it; False if there is no such call.

    `meanwhile`: what people do while there is no process.
    """
    with crashing(bed, number, after=after) as crashed:
        try:
            bed.run(3)
        except Crash:
            meanwhile()
            bed.start()
    bed.run(3)
    return crashed()


def only(operation: str, fault: Hook) -> Hook:
    """A fault on every call of one operation."""

    def hook(call: Call, forward: Forward) -> Response:
        return fault(call, forward) if call.operation == operation else forward(call)

    return hook


def seen_before(operation: str, look: Callable[[], object]) -> Hook:
    """Look at something right before each call of one operation."""

    def hook(call: Call, forward: Forward) -> Response:
        if call.operation == operation:
            look()
        return forward(call)

    return hook


def refused(operation: str, text: str) -> Hook:
    """Lldap reports an error for every call of one operation."""
    body = {"data": None, "errors": [{"message": text, "path": [operation]}]}
    return only(operation, answer(Response.of_json(200, body)))
