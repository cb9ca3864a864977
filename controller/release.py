"""`lldap-operator release`: objects and accounts are let go, and both stay."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from controller.api import INSTANCE_LABEL, KINDS, Kind
from controller.clock import SystemClock
from controller.cluster import ClusterId
from controller.config import add_flags, load, load_some
from controller.finalizers import ObjectGone, StaleObject, remove_finalizer
from controller.kube import Kube
from controller.objects import listed
from controller.oneshot import api_server, lldap_server
from controller.ownwrites import OwnWrites
from controller.releasemarks import MarkRemoval
from controller.resource import Resource
from controller.rules import Rules
from controller.service import Service, service
from controller.statuswriter import StatusWriter
from informers import ApiFailure, RestClient

ATTEMPTS = 3  # an object may change under us
Say = Callable[[str], None]


class Release:
    """Takes our finalizers and our status off the objects of one instance. One thread."""

    def __init__(self, rest: RestClient, instance: str, say: Say) -> None:
        self.failed = 0
        self._rest = rest
        self._kube = Kube(rest, OwnWrites())
        self._status = StatusWriter(self._kube)
        self._instance = instance
        self._say = say

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
    command = _Command(arguments.namespace, arguments.dry_run, environ, flags, detected, say)
    return command.run()


_OWN_FLAGS = frozenset({"command", "namespace", "all", "dry_run"})


@dataclass(frozen=True, slots=True)
class _Command:
    """One run of the command. `namespace` is None for all."""

    namespace: str | None
    dry_run: bool
    environ: Mapping[str, str]
    flags: Mapping[str, str | None]
    detected: Mapping[str, str]
    say: Say

    def run(self) -> int:
        fields = ("lldap_instance", "kubeconfig", "call_seconds")
        some = load_some(fields, self.environ, self.flags, self.detected)
        with api_server(some["kubeconfig"], some["call_seconds"], SystemClock()) as rest:
            refused = self._remove_marks(rest)
            return self._let_go(Release(rest, some["lldap_instance"], self.say), refused)

    def _remove_marks(self, rest: RestClient) -> int:
        """How many marks lldap refused to let go of."""
        if not (self.environ.get("LLDAP_URL") or self.flags.get("lldap_url")):
            self.say("LLDAP_URL is not set: marks in lldap stay as they are")
            return 0
        config = load(self.environ, self.flags, self.detected)
        cluster = ClusterId(config.lldap_cluster_id, rest)
        cluster.step()
        if cluster.value is None:
            self.say(f"marks in lldap stay: {cluster.mistake or cluster.check()}")
            return 0
        rules, clock = Rules.of(config, cluster.value), SystemClock()
        with lldap_server(config, clock) as lldap:
            marks = MarkRemoval(lldap.session, rules, clock=clock, say=self.say)
            count = marks.run(self.namespace, dry_run=self.dry_run)
        self.say(f"{count} marks in lldap {self._were} removed")
        if marks.unreachable is not None:
            self.say(f"the other marks in lldap stay: {marks.unreachable}")
        return marks.failed

    def _let_go(self, release: Release, refused: int) -> int:
        try:
            count = release.run(self.namespace, dry_run=self.dry_run)
            again = 0 if self.dry_run else release.taken_up_again(self.namespace)
        except ApiFailure as error:
            self.say(f"the objects cannot be listed: {error}")
            return 1
        self.say(f"{count} objects {self._were} released")
        if again > release.failed:
            self.say(
                f"{again} objects have the finalizer again: an operator still looks at them. "
                "Scale it to 0, or take the namespace out of its WATCH_NAMESPACES, and run this "
                "once more"
            )
        return 1 if again or refused or release.failed else 0

    @property
    def _were(self) -> str:
        return "would be" if self.dry_run else "were"
