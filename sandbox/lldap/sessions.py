"""Tokens: who is logged in, for how long, and who was logged out."""

import base64
import hashlib
import hmac
import random
import string
import uuid

import orjson

from sandbox.lldap.errors import DomainError, Kind
from sandbox.lldap.request import Caller
from sandbox.lldap.store import Clock, Store
from sandbox.lldap.values import lower_ascii

TOKEN_SECONDS = 24 * 3600
REFRESH_SECONDS = 30 * TOKEN_SECONDS
_LETTERS = string.ascii_letters + string.digits


class TokenError(Exception):
    """A bearer token that is not accepted; the text says why."""


class Sessions:
    """Makes and checks JWTs and refresh tokens. Caller holds lldap's lock.

    The groups are claims inside the JWT, so a change of role shows after the next login only.
    """

    def __init__(self, store: Store, clock: Clock, rng: random.Random) -> None:
        self._store = store
        self._clock = clock
        self._rng = rng
        self._secret = rng.randbytes(32)

    def token(self, user_id: str) -> str:
        """Make a JWT for a user that exists."""
        state = self._store.state
        if user_id not in state.users.rows:
            raise DomainError(Kind.NOT_FOUND, user_id)
        groups = [state.groups.rows[group_id] for group_id in state.users.rows[user_id].links]
        now, identity = int(self._now()), str(uuid.UUID(bytes=self._rng.randbytes(16), version=4))
        claims = {
            "exp": now + TOKEN_SECONDS,
            "iat": now,
            "jti": identity,
            "user": user_id,
            "groups": [group.columns["display_name"] for group in groups],
        }
        state.issued_tokens[identity] = user_id
        signed = f"{_encoded({'alg': 'HS512'})}.{_encoded(claims)}"
        return f"{signed}.{self._signature(signed)}"

    def refresh_token(self, user_id: str) -> str:
        """Make a refresh token: a random part and the user's name."""
        text = "".join(self._rng.choices(_LETTERS, k=100))
        self._store.state.refresh_tokens[text] = (user_id, self._now() + REFRESH_SECONDS)
        return f"{text}+{user_id}"

    def refreshed(self, refresh_token: str | None) -> str:
        """Make a JWT for the owner of a refresh token."""
        text, user_id = _split(refresh_token)
        owner, expiry = self._store.state.refresh_tokens.get(text, ("", 0.0))
        if owner != user_id or expiry < self._now():
            raise DomainError(Kind.AUTHENTICATION, "Invalid refresh token")
        return self.token(user_id)

    def log_out(self, refresh_token: str | None) -> None:
        """Revoke every JWT of the user, and this refresh token.

        lldap believes the name in the token: anybody can log out anybody.
        """
        text, user_id = _split(refresh_token)
        state = self._store.state
        state.refresh_tokens.pop(text, None)
        state.revoked_tokens |= {t for t, owner in state.issued_tokens.items() if owner == user_id}

    def caller(self, token: str) -> Caller:
        """Who a JWT says that the caller is. TokenError: it is not accepted."""
        signed, _, signature = token.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(signed).encode()):
            raise TokenError("Invalid JWT")
        claims = orjson.loads(base64.urlsafe_b64decode(signed.partition(".")[2] + "=="))
        if claims["exp"] < self._now():
            raise TokenError("Expired JWT")
        if claims["jti"] in self._store.state.revoked_tokens:
            raise TokenError("JWT was logged out")
        return Caller.of(claims["user"], claims["groups"])

    def _signature(self, signed: str) -> str:
        digest = hmac.digest(self._secret, signed.encode(), hashlib.sha512)
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=").decode()


def _split(refresh_token: str | None) -> tuple[str, str]:
    text, plus, user_id = (refresh_token or "").partition("+")
    if not plus:
        which = "Missing" if refresh_token is None else "Invalid"
        raise DomainError(Kind.AUTHENTICATION, f"{which} refresh token")
    return text, lower_ascii(user_id)
