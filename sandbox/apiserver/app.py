"""The API server without a network: a request in, an answer out."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import orjson
import yaml

from sandbox.apiserver import errors, listing
from sandbox.apiserver.admission import Policies
from sandbox.apiserver.authorization import (
    ADMIN,
    REVIEWS,
    Attributes,
    Authenticator,
    Authorizer,
    Reviews,
    User,
)
from sandbox.apiserver.crd import CRDS, CrdStrategy, ServedResources, same_schema, storage_of
from sandbox.apiserver.decoding import media_type, read_body
from sandbox.apiserver.lifecycle import Lifecycle
from sandbox.apiserver.listing import ListOptions, Selection
from sandbox.apiserver.messages import JSON, TEXT, YAML, Request, Response, Target
from sandbox.apiserver.negotiation import error_type, negotiate
from sandbox.apiserver.nonresource import NonResource
from sandbox.apiserver.objects import Object, Value, is_deleting, meta
from sandbox.apiserver.options import DeleteOptions, WriteOptions
from sandbox.apiserver.registry import NAMESPACES, Call, Clock, Registry
from sandbox.apiserver.resources import Resource
from sandbox.apiserver.store import Store
from sandbox.apiserver.strategy import Strategy, strategy_of
from sandbox.apiserver.watch import Watch
from sandbox.apiserver.writes import Writes

MAX_BODY = 3_145_728
FIRST_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
REINITIALIZING_SECONDS = 1.0  # a changed CRD does not serve watches at once
NOT_FOUND = Response(404, b"404 page not found\n", TEXT)
CRD_STRATEGY = CrdStrategy()


class ApiServer:
    """Value thread may call `request`; nothing waits. One thread calls `step` from time to time."""

    def __init__(
        self,
        clock: Clock,
        source: random.Random,
        *,
        authenticator: Authenticator | None = None,
        authorizer: Authorizer | None = None,
        folder: Path | None = None,
    ) -> None:
        """`source` makes uids and generated names; `folder` keeps the state over a restart.

        Without an authenticator everybody is the administrator.
        """
        self.store = Store(folder)
        self._clock = clock
        self._authenticator = authenticator or Authenticator(without_token=ADMIN)
        self._authorizer = authorizer or Authorizer()
        self._reviews = Reviews(self._authenticator, self._authorizer)
        self._served = ServedResources()
        self._reinitializing: dict[str, float] = {}  # storage → until when
        policies = Policies(self.store, self._authorizer)
        self._registry = Registry(self.store, policies, clock, source)
        self._registry.on_written(CRDS, self._crd_written)
        self._writes = Writes(self._registry, self._authorizer)
        self._lifecycle = Lifecycle(self.store, self._registry, self._served, self._call_of_server)
        self._nonresource = NonResource(self._served)
        for crd in self.store.snapshot(CRDS)[0]:
            self._served.serve(crd)
        self._create_first_namespaces()

    def _create_first_namespaces(self) -> None:
        resource = self._served.find("", "v1", NAMESPACES)
        assert resource is not None
        for name in FIRST_NAMESPACES:
            if self.store.get(NAMESPACES, name) is None:
                call = self._call_of_server(resource, "", name)
                self._registry.create(call, {**_head(resource), "metadata": {"name": name}})

    def _call_of_server(self, resource: Resource, namespace: str, name: str) -> Call:
        return Call(
            resource=resource,
            strategy=_strategy(resource),
            namespace=namespace,
            name=name,
            subresource="",
            user=ADMIN,
            options=WriteOptions(False, "Ignore", "kube-apiserver", False),
        )

    def _crd_written(self, old: Object | None, new: Object | None) -> None:
        """Serve what a CRD says now. A change ends the watches of its objects."""
        if new is None:
            assert old is not None
            self._served.withdraw(old)
        elif old is None or not same_schema(new, old):
            self._served.serve(new)
        if old is not None and (new is None or not same_schema(new, old)):
            self.store.compact(storage_of(old))
            until = self._clock.monotonic() + REINITIALIZING_SECONDS
            self._reinitializing[storage_of(old)] = until

    def step(self) -> None:
        """Do what is due without a request: end deleted namespaces and CRDs."""
        self._lifecycle.step()

    def request(self, request: Request) -> Response:
        """Answer a request; every failure is an answer."""
        try:
            return self._answer(request)
        except errors.StatusError as error:
            return _failure(error, request)

    def _answer(self, request: Request) -> Response:
        user = self._authenticator.user_of(request)
        if len(request.body) > MAX_BODY:
            raise errors.too_large(MAX_BODY)
        target = Target.parse(request.path)
        if target is None:
            self._authorizer.check_path(user, request.method, request.path)
            return self._nonresource.answer(request) or NOT_FOUND
        review = REVIEWS.get((target.group, target.plural))
        if review is not None and target.version == "v1":
            return self._review(request, target, review, user)
        resource = self._served.find(target.group, target.version, target.plural)
        if resource is None or bool(target.namespace) > resource.namespaced:
            return NOT_FOUND
        if target.subresource and target.subresource not in resource.subresources:
            return NOT_FOUND
        return self._serve(request, target, resource, user)

    def _review(self, request: Request, target: Target, kind: str, user: User) -> Response:
        if request.method != "POST":
            return NOT_FOUND
        content_type = request.headers.get("content-type", "")
        body = read_body(kind, request.body, content_type)
        spec = body.get("spec") or {}
        head = {"kind": kind, "apiVersion": f"{target.group}/{target.version}", "metadata": {}}
        status = self._reviews.answer(target.plural, spec, user)
        shown = {"spec": spec} if kind != "SelfSubjectReview" else {}
        return Response(201, orjson.dumps({**head, **shown, "status": status}))

    def _serve(self, request: Request, target: Target, resource: Resource, user: User) -> Response:
        verb = _verb(request, target)
        wanted = Attributes(
            verb=verb,
            group=target.group,
            resource=target.plural,
            subresource=target.subresource,
            namespace=target.namespace,
            name=target.name or _selected_name(request, verb),
        )
        self._authorizer.check(user, resource, wanted)
        allowed = resource.subresources.get(target.subresource, resource.verbs)
        if verb not in allowed:
            raise errors.method_not_allowed(resource, verb)
        if verb in {"get", "list", "watch"}:
            return self._read(request, target, resource, verb)
        return self._write(request, target, resource, user, verb)

    # Reading

    def _read(self, request: Request, target: Target, resource: Resource, verb: str) -> Response:
        form = negotiate(request.headers.get("accept", ""), watch=verb == "watch")
        selection = Selection(resource, _strategy(resource), target.namespace, request)
        now = self._clock.now()
        if verb == "watch":
            return self._watch(request, selection)
        if verb == "list":
            options = ListOptions.parse(request, watch=False)
            page, metadata = listing.read_page(self.store, selection, options)
            body = listing.show_list(selection, page, metadata, form, now)
            return _encode(200, body, form.media_type)
        version = listing.parse_number(request.query.get("resourceVersion", ""), "resourceVersion")
        if version > self.store.revision:
            raise errors.version_too_large(version, self.store.revision)
        call = replace(
            self._call_of_server(resource, target.namespace, target.name),
            subresource=target.subresource,
        )
        shown = listing.show_object(selection, self._registry.live(call), form, now)
        return _encode(200, shown, form.media_type)

    def _watch(self, request: Request, selection: Selection) -> Response:
        resource = selection.resource
        if self._clock.monotonic() < self._reinitializing.get(resource.storage, 0.0):
            raise errors.reinitializing()
        options = ListOptions.parse(request, watch=True)
        form = negotiate(request.headers.get("accept", ""), watch=True)

        def is_current() -> bool:
            found = self._served.find(resource.group, resource.version, resource.plural)
            return found is resource

        watch = Watch(
            self.store, selection, options, form, clock=self._clock, is_current=is_current
        )
        return Response(200, stream=watch)

    # Writing

    def _write(
        self, request: Request, target: Target, resource: Resource, user: User, verb: str
    ) -> Response:
        if verb in {"delete", "deletecollection"}:
            return self._delete(request, target, resource, user, verb)
        if not target.name and verb != "create":
            raise errors.bad_request("name must be provided")
        content_type = media_type(request.headers.get("content-type", ""))
        kind = f"{verb.capitalize()}Options"
        call = Call(
            resource=resource,
            strategy=_strategy(resource),
            namespace=target.namespace,
            name=target.name,
            subresource=target.subresource,
            user=user,
            options=WriteOptions.parse(request, kind, content_type),
            size=len(request.body),
        )
        return self._finish(call, request, verb)

    def _finish(self, call: Call, request: Request, verb: str) -> Response:
        """Carry a write out; warnings go with a failure too."""
        form = negotiate(request.headers.get("accept", ""))
        if verb == "create" and self._crd_is_deleting(call.resource):
            message = "create not allowed while custom resource definition is terminating"
            raise errors.forbidden(call.resource, call.name, message)
        try:
            status, obj = self._writes.carry_out(call, request, verb)
        except errors.StatusError as error:
            failure = _failure(error, request)
            failure.warnings = _warnings(call.warnings)
            return failure
        selection = Selection(call.resource, call.strategy, call.namespace, request)
        shown = listing.show_object(selection, obj, form, self._clock.now())
        response = _encode(status, shown, form.media_type)
        response.warnings = _warnings(call.warnings)
        return response

    def _crd_is_deleting(self, resource: Resource) -> bool:
        crd = self.store.get(CRDS, resource.qualified) if resource.custom else None
        return crd is not None and is_deleting(crd)

    def _delete(
        self, request: Request, target: Target, resource: Resource, user: User, verb: str
    ) -> Response:
        form = negotiate(request.headers.get("accept", ""))
        options = DeleteOptions.parse(request)
        call = replace(
            self._call_of_server(resource, target.namespace, target.name),
            subresource=target.subresource,
            user=user,
        )
        if verb == "delete":
            obj, gone = self._registry.delete(call, options)
            return _encode(200, _deleted(resource, obj) if gone else obj, form.media_type)
        selection = Selection(resource, call.strategy, target.namespace, request)
        listed = ListOptions.parse(request, watch=False)
        page, metadata = listing.read_page(self.store, selection, listed)
        for obj in page:
            namespace = meta(obj).get("namespace", "")
            one = replace(call, namespace=namespace, name=meta(obj)["name"])
            self._registry.delete(one, options)
        body = listing.show_list(selection, page, metadata, form, self._clock.now())
        return _encode(200, body, form.media_type)


def _head(resource: Resource) -> Object:
    return {"apiVersion": resource.api_version, "kind": resource.kind}


def _strategy(resource: Resource) -> Strategy:
    return CRD_STRATEGY if resource.qualified == CRDS else strategy_of(resource)


def _verb(request: Request, target: Target) -> str:
    """What a method means on an object, or on a collection."""
    if request.method in {"GET", "HEAD"}:
        if target.watch or (request.flag("watch") and not target.name):
            return "watch"
        return "get" if target.name else "list"
    verbs = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
    verb = verbs.get(request.method, request.method.lower())
    return "deletecollection" if verb == "delete" and not target.name else verb


def _selected_name(request: Request, verb: str) -> str:
    """A list of one name counts as a question for that name."""
    term = request.query.get("fieldSelector", "")
    found = verb in {"list", "watch"} and term.startswith("metadata.name=") and "," not in term
    return term.partition("=")[2] if found else ""


def _deleted(resource: Resource, obj: Object) -> Object:
    details = {"name": meta(obj)["name"], "group": resource.group, "kind": resource.plural}
    filled: dict[str, Value] = {key: value for key, value in details.items() if value}
    head = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return {**head, "details": {**filled, "uid": meta(obj)["uid"]}}


def _encode(status: int, body: Object, media: str) -> Response:
    if media == YAML:
        text = yaml.dump(body, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=True)
        return Response(status, text.encode(), YAML)
    return Response(status, orjson.dumps(body), JSON)


def _failure(error: errors.StatusError, request: Request) -> Response:
    response = _encode(error.code, error.status(), error_type(request.headers.get("accept", "")))
    if error.retry_after:
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def _warnings(texts: list[str]) -> list[str]:
    return [f"299 - {errors.quote(text)}" for text in dict.fromkeys(texts)]
