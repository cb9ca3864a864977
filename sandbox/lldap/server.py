"""An lldap without sockets."""

import contextlib
import functools
import random
import threading
from collections.abc import Callable, Iterator, Mapping

from lldap.opaque import Argon2, ClientV07, ClientV40, KeptKey, KeyStretching, Version
from sandbox.lldap.auth import Auth
from sandbox.lldap.bodies import BodyError
from sandbox.lldap.errors import DomainError
from sandbox.lldap.exchange import Call, ContentTypeError, Entry, Response
from sandbox.lldap.faults import Forward, Hook
from sandbox.lldap.graphql import GraphQL
from sandbox.lldap.opaque import PasswordRecord, PasswordServer
from sandbox.lldap.request import Request
from sandbox.lldap.sessions import Sessions, TokenError
from sandbox.lldap.store import Clock, State, Store

ADMIN = "admin"
_LARGEST_BODY = 1 << 24
_REGISTER_START = "/auth/opaque/register/start"
_V07_LOGIN_START = "/auth/opaque/v07/login/start"

Handler = Callable[[Call], Response]


class Lldap:
    """An lldap 0.6 on SQLite, embedded. Any thread.

    It knows the admin `admin` with `admin_password`. `prefix` is the path that it is served
    under. Dates have whole seconds with `whole_seconds`, as on MariaDB. `stretch` is the key
    stretching of OPAQUE 0.7, and must be the clients' too.

    Transports and servers `send`: every call goes into `log`, in the order of sending, and then
    through `hooks`, the first one first. A hook runs in the thread of the call, with no lock held.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        admin_password: str,
        speaks: Version = Version.V0_7,
        prefix: str = "",
        whole_seconds: bool = False,
        rng: random.Random | None = None,
        stretch: KeyStretching | None = None,
    ) -> None:
        self.clock = clock
        self.hooks: list[Hook] = []
        self.log: list[Entry] = []
        self._admin_password = admin_password
        self._prefix = prefix
        self._whole_seconds = whole_seconds
        self._rng = rng or random.SystemRandom()
        self._stretch = stretch or Argon2(permits=2)
        self._graphql = GraphQL()
        self._lock = threading.Lock()  # guards the database and the memory of _graphql
        self._install(speaks)

    def send(self, call: Call) -> Response:
        """Answer a call unless a hook does something else. ConnectionLostError: one wants it so."""
        entry = Entry(call)
        self.log.append(entry)
        forward: Forward = self._answer
        for hook in reversed(self.hooks):
            forward = functools.partial(_forwarded, hook, forward)
        response = forward(call)
        entry.status = response.status
        return response

    def handle(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Response:
        """Answer one call, without log and hooks; header names in any case.

        Takes tens of milliseconds of a core when a password is checked.
        """
        lowered = {name.lower(): value for name, value in headers.items()}
        return self._answer(Call("", method, path, lowered, body))

    def _answer(self, call: Call) -> Response:
        path = call.path.partition("?")[0]
        inside = path.removeprefix(self._prefix) if path.startswith(self._prefix) else ""
        method, handler = self._routes.get(inside, ("", None))
        if handler is None or (inside == _V07_LOGIN_START and self._speaks_v07):
            return Response.of_text(404, "No such file or directory (os error 2)")
        if call.method != method:
            return Response(405, [("allow", method)])
        try:
            return handler(call)
        except DomainError as error:
            return Response.of_text(error.status, f"`{error}`", ())
        except (BodyError, ContentTypeError) as error:
            if inside == _REGISTER_START:
                return Response.of_text(400, f"Bad request: `{error!r}`", ())
            return Response.of_text(400, str(error))

    @contextlib.contextmanager
    def database(self) -> Iterator[Store]:
        """The database, for what happens behind everybody's back. Calls wait meanwhile."""
        with self._lock:
            yield self._store

    def snapshot(self) -> State:
        """Return a copy of the database."""
        with self._lock:
            return self._store.snapshot()

    def restore(self, state: State) -> None:
        """Go back to a copy of the database. The keys stay: tokens made since remain valid."""
        with self._lock:
            self._store.restore(state)

    def reinstall(self) -> None:
        """Begin anew at the same address: other keys, other uuids, nobody but the admin."""
        self._install(self._passwords.speaks)

    def upgrade(self) -> None:
        """Speak OPAQUE 4.0 from now on."""
        self._passwords.upgrade()

    def set_password(self, user_id: str, password: str) -> None:
        """Register a password as its owner would, in the version that is spoken."""
        record = self._registered(self._passwords, user_id, password)
        with self._lock:
            self._store.set_password(user_id, record)

    def _registered(self, server: PasswordServer, user_id: str, password: str) -> PasswordRecord:
        random_bytes, stretch = self._rng.randbytes, self._stretch
        v07 = server.speaks is Version.V0_7
        client = ClientV07(random=random_bytes, stretch=stretch) if v07 else ClientV40()
        started = client.begin_registration(password.encode(), KeptKey())
        answer = server.registration_start(user_id, started.request)
        return server.registration_finish(started.finish(answer))

    @property
    def _speaks_v07(self) -> bool:
        return self._passwords.speaks is Version.V0_7

    def _install(self, speaks: Version) -> None:
        rng, store = self._rng, Store(self.clock, whole_seconds=self._whole_seconds)
        sessions = Sessions(store, self.clock, rng)
        passwords = PasswordServer(
            speaks, seed=rng.randbytes(32), random=rng.randbytes, stretch=self._stretch
        )
        store.create_user(ADMIN, "", "Administrator")
        store.add_member(ADMIN, 1)
        store.set_password(ADMIN, self._registered(passwords, ADMIN, self._admin_password))
        key, prefix = rng.randbytes(32), self._prefix
        auth = Auth(self._lock, store, sessions, passwords, seal_key=key, prefix=prefix)
        with self._lock:
            self._store, self._sessions, self._passwords = store, sessions, passwords
            self._routes = self._routing(auth)

    def _routing(self, auth: Auth) -> dict[str, tuple[str, Handler]]:
        return {
            "/health": ("GET", lambda _: Response(200)),
            "/api/graphql": ("POST", self._answer_graphql),
            "/auth/simple/login": ("POST", auth.simple_login),
            "/auth/refresh": ("GET", auth.refresh),
            "/auth/logout": ("GET", auth.logout),
            _REGISTER_START: ("POST", auth.register_start),
            "/auth/opaque/register/finish": ("POST", auth.register_finish),
            "/auth/opaque/login/start": ("POST", auth.login_start),
            _V07_LOGIN_START: ("POST", auth.v07_login_start),
        }

    def _answer_graphql(self, call: Call) -> Response:
        token = call.bearer()
        if token is None:
            return Response(401, [("www-authenticate", "Bearer")])
        try:
            with self._lock:
                caller = self._sessions.caller(token)
        except TokenError as error:
            return Response.of_text(401, str(error))
        body = call.body()
        if len(call.data) > _LARGEST_BODY:
            return Response.of_text(413, "payload reached size limit")
        with self._lock:
            # The answer shares the database's values: it is made before the lock is given back.
            return Response.of_json(*self._graphql.answer(Request(self._store, caller), body))


def _forwarded(hook: Hook, forward: Forward, call: Call) -> Response:
    return hook(call, forward)
