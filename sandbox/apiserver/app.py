"""The API server without a network: a request in, an answer out."""

from __future__ import annotations

import random
import threading
from dataclasses import replace
from pathlib import Path

from sandbox.apiserver import errors, listing
from sandbox.apiserver.admission import Policies
from sandbox.apiserver.answers import deleted, encode, failure, warning_headers
from sandbox.apiserver.authorization import (
    ADMIN,
    REVIEWS,
    Attributes,
    Authenticator,
    Authorizer,
    Reviews,
    User,
)
from sandbox.apiserver.crd import CrdStrategy, ServedResources, same_schema, storage_of
from sandbox.apiserver.decoding import media_type, read_body
from sandbox.apiserver.deletion import Deletion
from sandbox.apiserver.lifecycle import Lifecycle
from sandbox.apiserver.listing import ListOptions, Selection
from sandbox.apiserver.messages import TEXT, Request, Response, Target
from sandbox.apiserver.negotiation import negotiate
from sandbox.apiserver.nonresource import NonResource
from sandbox.apiserver.objects import Object, meta
from sandbox.apiserver.options import DeleteOptions, WriteOptions
from sandbox.apiserver.reads import Reads
from sandbox.apiserver.registry import CRDS, NAMESPACES, Call, Clock, Registry
from sandbox.apiserver.resources import Resource
from sandbox.apiserver.store import Store
from sandbox.apiserver.strategy import Strategy, strategy_of
from sandbox.apiserver.writes import Writes

MAX_BODY = 3_145_728
FIRST_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
REINITIALIZING_SECONDS = 1.0  # a changed CRD does not serve watches at once
NOT_FOUND = Response(404, b"404 page not found\n", TEXT)
CRD_STRATEGY = CrdStrategy()


class ApiServer:
    """Any thread may call `request`; nothing waits. One thread calls `step` from time to time."""

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
        self._crd_lock = threading.Lock()  # a CRD is read and served before the next one is
        self._reinitializing: dict[str, float] = {}  # storage → until when
        policies = Policies(self.store, self._authorizer)
        self._registry = Registry(self.store, policies, clock, source)
        self._registry.on_written(CRDS, self._crd_written)
        self._reads = Reads(self.store, self._served, clock, self._may_watch)
        self._writes = Writes(self._registry, self._authorizer)
        self._deletion = Deletion(self._registry)
        self._lifecycle = Lifecycle(self.store, self._registry, self._served, self._call)
        self._nonresource = NonResource(self._served)
        for crd in self.store.snapshot(CRDS)[0]:
            self._served.serve(crd)
        self._create_first_namespaces()

    def _create_first_namespaces(self) -> None:
        resource = self._served.find("", "v1", NAMESPACES)
        assert resource is not None
        for name in FIRST_NAMESPACES:
            if self.store.get(NAMESPACES, name) is None:
                call = self._call(resource, "", name)
                self._registry.create(call, {**_head(resource), "metadata": {"name": name}})

    def _call(self, resource: Resource, namespace: str, name: str) -> Call:
        """The server's own write of an object."""
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
        if old is not None and new is not None and same_schema(new, old):
            return
        crd = new or old
        assert crd is not None
        with self._crd_lock:
            current = self.store.get(CRDS, meta(crd)["name"])
            if current is None:
                self._served.withdraw(crd)
            else:
                self._served.serve(current)
        if old is not None:
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
            return failure(error, request)

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
        return encode(201, {**head, **shown, "status": status})

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
        selection = Selection(resource, _strategy(resource), target.namespace, request)
        match verb:
            case "get":
                return self._reads.get(request, selection, target.name)
            case "list":
                return self._reads.list(request, selection)
            case "watch":
                return self._reads.watch(request, selection)
            case "delete" | "deletecollection":
                return self._delete(request, target, selection, user)
        return self._write(request, target, selection, user, verb)

    def _may_watch(self, storage: str) -> None:
        if self._clock.monotonic() < self._reinitializing.get(storage, 0.0):
            raise errors.reinitializing()

    def _write(
        self, request: Request, target: Target, selection: Selection, user: User, verb: str
    ) -> Response:
        """Carry a write out; warnings go with a failure too."""
        if not target.name and verb != "create":
            raise errors.bad_request("name must be provided")
        form = negotiate(request.headers.get("accept", ""))
        content_type = media_type(request.headers.get("content-type", ""))
        options = WriteOptions.parse(request, f"{verb.capitalize()}Options", content_type)
        call = replace(
            self._call(selection.resource, target.namespace, target.name),
            subresource=target.subresource,
            user=user,
            options=options,
            size=len(request.body),
        )
        try:
            status, obj = self._writes.carry_out(call, request, verb)
        except errors.StatusError as error:
            return failure(error, request, call.warnings)
        shown = listing.show_object(selection, obj, form, self._clock.now())
        response = encode(status, shown, form.media_type)
        response.warnings = warning_headers(call.warnings)
        return response

    def _delete(
        self, request: Request, target: Target, selection: Selection, user: User
    ) -> Response:
        form = negotiate(request.headers.get("accept", ""))
        options = DeleteOptions.parse(request)
        resource = selection.resource
        if target.name:
            call = replace(self._call(resource, target.namespace, target.name), user=user)
            obj, gone = self._deletion.delete(call, options)
            return encode(200, deleted(resource, obj) if gone else obj, form.media_type)
        listed = ListOptions.parse(request, watch=False)
        page, metadata = listing.read_page(self.store, selection, listed)
        for obj in page:
            namespace = meta(obj).get("namespace", "")
            call = replace(self._call(resource, namespace, meta(obj)["name"]), user=user)
            self._deletion.delete(call, options)
        body = listing.show_list(selection, page, metadata, form, self._clock.now())
        return encode(200, body, form.media_type)


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
