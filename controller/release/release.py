"""`lldap-operator release`: objects and accounts are let go, and both stay."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

from controller.api import INSTANCE_LABEL, KINDS, Kind
from controller.clock import SystemClock
from controller.cluster import ClusterId
from controller.configuration.config import add_flags, load, load_some
from controller.configuration.rules import Rules
from controller.harness.finalizers import ObjectGone, StaleObject, remove_finalizer
from controller.harness.resource import Resource
from controller.harness.statuswriter import StatusWriter
from controller.kube import Kube
from controller.migrate.report import counted
from controller.objects import listed
from controller.oneshot import api_server, lldap_server
from controller.ownership.service import Service, service
from controller.release.marks import MarkRemoval, moved_objects
from controller.watching.ownwrites import OwnWrites
from informers import ApiFailure, RestClient, StatusError, StatusKind

ATTEMPTS = 3  # an object may change under us
FAILED = 1
MISTAKE = 2
Say = Callable[[str], None]


class Release:
    """Takes our finalizers and our status off the objects of one instance. One thread.

    `moved`: only off those whose label no longer names the instance.
    """

    def __init__(self, rest: RestClient, instance: str, say: Say, *, moved: bool = False) -> None:
        self.failed = 0
        self._rest = rest
        self._kube = Kube(rest, OwnWrites())
        self._status = StatusWriter(self._kube)
        self._instance = instance
        self._say = say
        self._moved = moved

    def run(self, namespace: str | None, *, dry_run: bool) -> int:
        """Release what is in a namespace, or in all; how many objects.

        Raises what the REST client raises when a kind cannot be listed.
        """
        done = 0
        for kind, resource in list(self._held(namespace)):
            if dry_run or self._released(kind, resource):
                verb = "would be released" if dry_run else "released"
                self._say(f"{kind.kind} {resource.key} {verb}")
                done += 1
        return done

    def taken_up_again(self, namespace: str | None) -> int:
        """How many objects have our finalizer after all: an operator still runs."""
        return sum(kind.finalizer in each.finalizers for kind, each in self._held(namespace))

    def _held(self, namespace: str | None) -> Iterator[tuple[Kind, Resource]]:
        for kind in KINDS:
            for resource in listed(self._rest, kind, namespace):
                held = kind.finalizer in resource.finalizers or resource.recorded
                if held and self._ours(resource):
                    yield kind, resource

    def _ours(self, resource: Resource) -> bool:
        """Of this instance by label or record, or of none: then nobody else lets it go."""
        if self._moved:
            return service(resource, self._instance) is Service.TO_RELEASE
        nobody = not resource.labels.get(INSTANCE_LABEL) and not resource.recorded.get("instance")
        return nobody or service(resource, self._instance) is not Service.FOREIGN

    def _released(self, kind: Kind, resource: Resource) -> bool:
        for _ in range(ATTEMPTS):
            try:
                remove_finalizer(self._kube, resource, kind.finalizer)
                if resource.finalizers or not resource.deleting:
                    self._status.clear(resource)
            except ObjectGone:
                return True
            except StaleObject:
                continue
            except ApiFailure as error:
                self._say(f"{kind.kind} {resource.key} is not released: {error}")
                self.failed += 1
                return False
            return True
        self._say(f"{kind.kind} {resource.key} is not released: it keeps changing; try again")
        self.failed += 1
        return False


def add_release(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--namespace", metavar="NAME", help="only the objects of this namespace")
    where.add_argument("--all", action="store_true", help="the objects of all namespaces")
    parser.add_argument(
        "--moved",
        action="store_true",
        help="only objects that this instance served and that have another instance's label by now",
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    add_flags(parser)


def run_release(
    arguments: argparse.Namespace,
    environ: Mapping[str, str],
    detected: Mapping[str, str],
    say: Say,
) -> int:
    """Run the command; the exit code: 1 if something was not released. Raises ConfigError."""
    flags = {k: v for k, v in vars(arguments).items() if k not in _OWN_FLAGS}
    which = (arguments.namespace, arguments.moved, arguments.dry_run)
    return _Command(*which, environ, flags, detected, say).run()


_OWN_FLAGS = frozenset({"command", "namespace", "all", "moved", "dry_run"})


class _Marks(NamedTuple):
    """How many marks were removed, and how many lldap refused to let go of."""

    removed: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class _Command:
    """One run of the command. `namespace` is None for all."""

    namespace: str | None
    moved: bool
    dry_run: bool
    environ: Mapping[str, str]
    flags: Mapping[str, str | None]
    detected: Mapping[str, str]
    say: Say

    def run(self) -> int:
        fields = ("lldap_instance", "kubeconfig", "call_seconds")
        some = load_some(fields, self.environ, self.flags, self.detected)
        with api_server(some["kubeconfig"], some["call_seconds"], SystemClock()) as rest:
            try:
                marks = self._remove_marks(rest)
                release = Release(rest, some["lldap_instance"], self.say, moved=self.moved)
                return self._let_go(release, marks, rest)
            except ApiFailure as error:
                self.say(f"the objects cannot be listed: {error}")
                return FAILED

    def _remove_marks(self, rest: RestClient) -> _Marks:
        """Raises what the REST client raises when a kind cannot be listed."""
        if not (self.environ.get("LLDAP_URL") or self.flags.get("lldap_url")):
            self.say("LLDAP_URL is not set: marks in lldap stay as they are")
            return _Marks()
        config = load(self.environ, self.flags, self.detected)
        cluster = ClusterId(config.lldap_cluster_id, rest)
        cluster.step()
        if cluster.value is None:
            self.say(f"marks in lldap stay: {cluster.mistake or cluster.check()}")
            return _Marks()
        rules, clock = Rules.of(config, cluster.value), SystemClock()
        only = moved_objects(rest, rules.instance, self.namespace) if self.moved else None
        with lldap_server(config, clock) as lldap:
            marks = MarkRemoval(lldap.session, rules, clock=clock, say=self.say)
            count = marks.run(self.namespace, dry_run=self.dry_run, only=only)
        self.say(f"{counted(count, 'mark')} in lldap {self._were(count)} removed")
        if marks.unreachable is not None:
            self.say(f"the other marks in lldap stay: {marks.unreachable}")
        return _Marks(count, marks.failed)

    def _let_go(self, release: Release, marks: _Marks, rest: RestClient) -> int:
        count = release.run(self.namespace, dry_run=self.dry_run)
        again = 0 if self.dry_run else release.taken_up_again(self.namespace)
        if not (count or again or any(marks)) and self._is_no_namespace(rest):
            self.say(f"there is no namespace {self.namespace}: nothing was released")
            return MISTAKE
        self.say(f"{counted(count, 'object')} {self._were(count)} released")
        if again > release.failed:
            self.say(
                f"objects that have the finalizer again: {again}. An operator still serves them. "
                "Scale it to 0, or take the namespace out of its WATCH_NAMESPACES, and run this "
                "once more"
            )
        return FAILED if again or marks.refused or release.failed else 0

    def _is_no_namespace(self, rest: RestClient) -> bool:
        """Whether the API server says so; who may not read namespaces is not told."""
        if self.namespace is None:
            return False
        try:
            rest.get(f"/api/v1/namespaces/{quote(self.namespace, safe='')}")
        except ApiFailure as error:
            return isinstance(error, StatusError) and error.kind is StatusKind.NOT_FOUND
        return False

    def _were(self, count: int) -> str:
        return "would be" if self.dry_run else "was" if count == 1 else "were"
