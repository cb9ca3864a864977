"""Who calls and what they may: a table of tokens and a table of rules, as RBAC has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sandbox.apiserver import errors
from sandbox.apiserver.messages import Request
from sandbox.apiserver.objects import Object, Value
from sandbox.apiserver.resources import VERBS, Resource

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who calls."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()

    def info(self) -> Object:
        """The user as reviews and policies show it."""
        found: Object = {"username": self.name, "uid": self.uid, "groups": list(self.groups)}
        return {key: value for key, value in found.items() if value}


ANONYMOUS = User("system:anonymous", groups=("system:unauthenticated",))
ADMIN = User("admin", "admin-uid", (MASTERS, AUTHENTICATED))


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """What somebody wants to do. `path` is set instead of the rest for what is no resource."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def full_resource(self) -> str:
        """Resource and subresource, as rules name them."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def _covers(allowed: Sequence[str], wanted: str) -> bool:
    return "*" in allowed or wanted in allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule of RBAC, in some namespaces or (None) in all and in the cluster."""

    verbs: Sequence[str]
    groups: Sequence[str]
    resources: Sequence[str]
    names: Sequence[str] = ()
    namespaces: Sequence[str] | None = None

    def allows(self, wanted: Attributes) -> bool:
        """Whether the rule grants what is wanted."""
        return (
            _covers(self.verbs, wanted.verb)
            and _covers(self.groups, wanted.group)
            and _covers(self.resources, wanted.full_resource)
            and (not self.names or wanted.name in self.names)
            and (self.namespaces is None or wanted.namespace in self.namespaces)
        )


# All that is done to objects, but no verb that is made up: no operator.
ANYTHING = Rule(verbs=VERBS, groups=("*",), resources=("*",))


@dataclass(frozen=True, slots=True)
class Authorizer:
    """Rules by the name of a user or of a group. `system:masters` may do everything."""

    rules: Mapping[str, Sequence[Rule]] = field(default_factory=dict)

    def allows(self, user: User, wanted: Attributes) -> bool:
        """Whether a user may do what is wanted."""
        if MASTERS in user.groups:
            return True
        if wanted.path:
            return not wanted.path.startswith("/metrics")
        named = (user.name, *user.groups)
        return any(rule.allows(wanted) for name in named for rule in self.rules.get(name, ()))

    def check(self, user: User, resource: Resource, wanted: Attributes) -> None:
        """Raises StatusError 403."""
        if self.allows(user, wanted):
            return
        where = (
            f'in the namespace "{wanted.namespace}"' if wanted.namespace else "at the cluster scope"
        )
        message = (
            f'User "{user.name}" cannot {wanted.verb} resource "{wanted.full_resource}" '
            f'in API group "{wanted.group}" {where}'
        )
        raise errors.forbidden(resource, wanted.name, message)

    def check_path(self, user: User, method: str, path: str) -> None:
        """Raises StatusError 403 for a path that is no resource's."""
        verb = method.lower()
        if not self.allows(user, Attributes(verb=verb, path=path)):
            message = f'forbidden: User "{user.name}" cannot {verb} path "{path}"'
            raise errors.StatusError(403, "Forbidden", message, {})


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Bearer tokens. kubectl sends none over plain HTTP, so who has none can be somebody too."""

    tokens: Mapping[str, User] = field(default_factory=dict)
    without_token: User = ANONYMOUS

    def user_of(self, request: Request) -> User:
        """Raises StatusError 401 for a token that is not known."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            user = self.without_token
        elif token in self.tokens:
            user = self.tokens[token]
        else:
            raise errors.unauthorized()
        impersonated = request.headers.get("impersonate-user")
        if impersonated and MASTERS in user.groups:
            group = request.headers.get("impersonate-group")
            return User(impersonated, groups=(group, AUTHENTICATED) if group else (AUTHENTICATED,))
        return user


def _access(spec: Mapping[str, Value]) -> Attributes:
    paths = spec.get("nonResourceAttributes")
    if paths:
        return Attributes(verb=paths.get("verb", ""), path=paths.get("path", ""))
    wanted = spec.get("resourceAttributes", {})
    keys = ("verb", "group", "resource", "subresource", "namespace", "name")
    return Attributes(**{key: wanted.get(key, "") for key in keys})


@dataclass(frozen=True, slots=True)
class Reviews:
    """TokenReview and its like: questions that are answered and not stored."""

    authenticator: Authenticator
    authorizer: Authorizer

    def answer(self, plural: str, spec: Mapping[str, Value], user: User) -> Object | None:
        """Return the status of a review, or None for a kind of review that is not known."""
        if plural == "tokenreviews":
            return self._token(spec.get("token", ""))
        if plural == "selfsubjectaccessreviews":
            return {"allowed": self.authorizer.allows(user, _access(spec))}
        if plural == "subjectaccessreviews":
            asked = User(spec.get("user", ""), groups=tuple(spec.get("groups", ())))
            return {"allowed": self.authorizer.allows(asked, _access(spec))}
        if plural == "selfsubjectreviews":
            return {"userInfo": user.info()}
        return None

    def _token(self, token: str) -> Object:
        found = self.authenticator.tokens.get(token)
        if found is None:
            return {"user": {}, "error": "invalid bearer token"}
        return {"authenticated": True, "user": found.info()}


REVIEWS = {
    ("authentication.k8s.io", "tokenreviews"): "TokenReview",
    ("authentication.k8s.io", "selfsubjectreviews"): "SelfSubjectReview",
    ("authorization.k8s.io", "subjectaccessreviews"): "SubjectAccessReview",
    ("authorization.k8s.io", "selfsubjectaccessreviews"): "SelfSubjectAccessReview",
}
