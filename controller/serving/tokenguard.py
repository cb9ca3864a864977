"""Lets a request pass whose token the API server knows and whose account may get the path."""

import logging
from http import HTTPStatus
from typing import Final

from controller.serving.httpmessage import Request, Response, plain
from informers import ApiFailure, Object, RestClient

_LOG = logging.getLogger("controller.serving.tokenguard")

REVIEW_SECONDS: Final = 3.0
_CHALLENGE: Final = (("WWW-Authenticate", "Bearer"),)


class TokenGuard:
    """A guard of the HTTP server. Any thread.

    TokenReview, then SubjectAccessReview, for each request: a revoked right counts at once.
    Without an answer of the API server nothing passes (503). The token is neither kept nor logged.
    """

    def __init__(self, rest: RestClient) -> None:
        self._rest = rest

    def __call__(self, request: Request) -> Response | None:
        """See Guard: None lets it pass."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return plain(HTTPStatus.UNAUTHORIZED, headers=_CHALLENGE)
        try:
            user = self._authenticate(token.strip())
            if user is None:
                return plain(HTTPStatus.UNAUTHORIZED, headers=_CHALLENGE)
            return None if self._may(user, request) else plain(HTTPStatus.FORBIDDEN)
        except ApiFailure as error:
            _LOG.warning("nobody may read %s, a review failed: %s", request.path, error)
            return plain(HTTPStatus.SERVICE_UNAVAILABLE)

    def _authenticate(self, token: str) -> Object | None:
        status = self._review("authentication.k8s.io", "TokenReview", {"token": token})
        user = status.get("user")
        return user if status.get("authenticated") is True and isinstance(user, dict) else None

    def _may(self, user: Object, request: Request) -> bool:
        spec: Object = {
            "user": user.get("username", ""),
            "nonResourceAttributes": {"path": request.path, "verb": request.method.lower()},
            **{key: user[key] for key in ("uid", "groups", "extra") if key in user},
        }
        status = self._review("authorization.k8s.io", "SubjectAccessReview", spec)
        return status.get("allowed") is True

    def _review(self, group: str, kind: str, spec: Object) -> Object:
        path = f"/apis/{group}/v1/{kind.lower()}s"
        body = {"apiVersion": f"{group}/v1", "kind": kind, "spec": spec}
        status = self._rest.post(path, body, timeout=REVIEW_SECONDS).get("status")
        return status if isinstance(status, dict) else {}
