"""The end points under /auth: log in, refresh, log out, register a password, prove one."""

import base64
import hashlib
import hmac
import threading
from collections.abc import Callable
from typing import TypeVar

from lldap.opaque import InvalidMessage
from sandbox.lldap.bodies import Body, decoded
from sandbox.lldap.errors import DomainError, Kind
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.opaque import LoginStart, OldRecordError, PasswordRecord, PasswordServer
from sandbox.lldap.request import Caller
from sandbox.lldap.sessions import REFRESH_SECONDS, TOKEN_SECONDS, Sessions, TokenError
from sandbox.lldap.store import Store
from sandbox.lldap.values import lower_ascii

Start = Callable[[str, bytes, PasswordRecord | None], LoginStart]
Result = TypeVar("Result")
# How lldap's library names every malformed message.
_MALFORMED = "This error results from an error during password verification"
_NOT_ALLOWED = Response.of_text(
    401, "Unauthorized: `Not authorized to change the user's password`", ()
)
# The bytes that lldap's seal adds to a name: nonce, length and tag.
_SEAL_BYTES = 24 + 8 + 16


class Auth:
    """The end points. Any thread: they take `lock` for the store, and not for the arithmetic.

    `prefix` is the path that lldap is served under; `seal_key` signs the `server_data`.
    """

    def __init__(
        self,
        lock: threading.Lock,
        store: Store,
        sessions: Sessions,
        passwords: PasswordServer,
        *,
        seal_key: bytes,
        prefix: str,
    ) -> None:
        self._lock = lock
        self._store = store
        self._sessions = sessions
        self._passwords = passwords
        self._seal_key = seal_key
        self._prefix = prefix

    def simple_login(self, call: Call) -> Response:
        """POST /auth/simple/login. A record that is older than the server is made anew."""
        body = call.body()
        user_id, password = lower_ascii(body.text_of("username")), body.text_of("password")
        record = self._record(user_id)
        accepted = self._passwords.simple_login(user_id, password.encode(), record)
        if accepted is None:
            raise DomainError(Kind.AUTHENTICATION, f'for user "{user_id}"')
        with self._lock:
            token = self._sessions.token(user_id)
            refresh_token = self._sessions.refresh_token(user_id)
            # A registration that came in between wins.
            if accepted is not record and self._record_locked(user_id) is record:
                self._store.set_password(user_id, accepted)
        cookies = [self._token_cookie(token), self._refresh_cookie(refresh_token, REFRESH_SECONDS)]
        return Response.of_json(200, {"token": token, "refreshToken": refresh_token}, cookies)

    def refresh(self, call: Call) -> Response:
        """GET /auth/refresh."""
        with self._lock:
            token = self._sessions.refreshed(call.refresh_token())
        return Response.of_json(200, {"token": token}, [self._token_cookie(token)])

    def logout(self, call: Call) -> Response:
        """GET /auth/logout."""
        with self._lock:
            self._sessions.log_out(call.refresh_token())
        return Response(200, [self._token_cookie("", 0), self._refresh_cookie("", 0)])

    def register_start(self, call: Call) -> Response:
        """POST /auth/opaque/register/start."""
        try:
            with self._lock:
                caller = self._sessions.caller(call.bearer() or "")
        except TokenError:
            return _NOT_ALLOWED
        body = call.body()
        user_id = lower_ascii(body.text_of("username"))
        request = body.bytes_of("registration_start_request")
        # lldap reads the message before it looks for the user.
        answer = _checked(body, lambda: self._passwords.registration_start(user_id, request))
        if not caller.may_set_password(user_id, of_admin=self._is_admin(user_id)):
            return _NOT_ALLOWED
        return self._sealed(user_id, "registration_response", answer)

    def register_finish(self, call: Call) -> Response:
        """POST /auth/opaque/register/finish. The sealed name is all the permission it needs."""
        body = call.body()
        server_data, upload = body.text_of("server_data"), body.bytes_of("registration_upload")
        record = _checked(body, lambda: self._passwords.registration_finish(upload))
        user_id = self._unsealed(server_data)
        with self._lock:
            self._store.set_password(user_id, record)
        return Response(200)

    def login_start(self, call: Call) -> Response:
        """POST /auth/opaque/login/start: needs no token and makes none."""
        try:
            return self._started(call, self._passwords.login_start)
        except OldRecordError:
            return Response.of_json(409, {"error_code": "opaque_v07_version"})

    def v07_login_start(self, call: Call) -> Response:
        """POST /auth/opaque/v07/login/start: proves a record that is older than the server."""
        return self._started(call, self._passwords.v07_login_start)

    def _started(self, call: Call, start: Start) -> Response:
        body = call.body()
        user_id = lower_ascii(body.text_of("username"))
        request, record = body.bytes_of("login_start_request"), self._record(user_id)
        started = _checked(body, lambda: start(user_id, request, record))
        return self._sealed(user_id, "credential_response", started.response)

    def _sealed(self, user_id: str, field: str, message: bytes) -> Response:
        name = user_id.encode()
        server_data = base64.b64encode(self._seal(name) + name).decode()
        encoded = base64.b64encode(message).decode()
        return Response.of_json(200, {"server_data": server_data, field: encoded})

    def _unsealed(self, server_data: str) -> str:
        try:
            data = decoded(server_data)
        except ValueError as error:
            raise DomainError(Kind.BASE64, str(error).replace("byte", "symbol")) from None
        seal, name = data[:_SEAL_BYTES], data[_SEAL_BYTES:]
        if not hmac.compare_digest(seal, self._seal(name)):
            raise DomainError(Kind.CRYPTO, "UnknownCryptoError")
        return name.decode()

    def _seal(self, name: bytes) -> bytes:
        return hmac.digest(self._seal_key, name, hashlib.sha512)[:_SEAL_BYTES]

    def _record(self, user_id: str) -> PasswordRecord | None:
        with self._lock:
            return self._record_locked(user_id)

    def _record_locked(self, user_id: str) -> PasswordRecord | None:
        user = self._store.state.users.rows.get(user_id)
        return user.password if user else None

    def _is_admin(self, user_id: str) -> bool:
        with self._lock:
            state = self._store.state
            if user_id not in state.users.rows:
                raise DomainError(Kind.NOT_FOUND, user_id)
            groups = [state.groups.rows[group_id] for group_id in state.users.rows[user_id].links]
            names = [group.columns["display_name"] for group in groups]
        return Caller.of(user_id, names).is_admin

    def _token_cookie(self, token: str, seconds: int = TOKEN_SECONDS) -> tuple[str, str]:
        return _cookie("token", token, f"{self._prefix}/", seconds)

    def _refresh_cookie(self, token: str, seconds: int) -> tuple[str, str]:
        return _cookie("refresh_token", token, f"{self._prefix}/auth", seconds)


def _checked(body: Body, answer: Callable[[], Result]) -> Result:
    try:
        return answer()
    except InvalidMessage:
        raise body.wrong(_MALFORMED) from None


def _cookie(name: str, value: str, path: str, seconds: int) -> tuple[str, str]:
    settings = f"HttpOnly; SameSite=Strict; Path={path}; Max-Age={seconds}"
    return "set-cookie", f"{name}={value}; {settings}"
