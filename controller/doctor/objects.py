"""The checks of `lldap-operator doctor` on what objects and lldap say of each other."""

from collections.abc import Iterator, Sequence

from controller.api import KINDS, Kind
from controller.configuration.rules import Rules
from controller.doctor.findings import Report, note, ok, unknown, wrong
from controller.harness.resource import Resource
from controller.objects import listed
from controller.ownership.mark import Mark, mark_of
from controller.ownership.service import Service, service
from controller.release.marks import words_of
from informers import ApiFailure, RestClient
from lldap import Group, Mirror, User

SHOWN = 20


class ObjectChecks:
    """One thread."""

    def __init__(self, rest: RestClient, rules: Rules, report: Report) -> None:
        self._rest = rest
        self._rules = rules
        self._report = report

    def run(self, mirror: Mirror) -> None:
        """All of them; of marks only what can be said of namespaces that can be listed."""
        found = self._everywhere()
        if found is not None:
            self._finalizers(found)
        else:
            found = self._where_watched()
        if found is not None and mirror.loaded:
            self._marks(mirror, {resource.uid for _, resource in found})

    def _everywhere(self) -> list[tuple[Kind, Resource]] | None:
        try:
            return list(self._listed([None]))
        except ApiFailure as error:
            mend = "run doctor as an administrator of the cluster to have them checked"
            self._report(unknown("objects of all namespaces", str(error), mend))
            return None

    def _where_watched(self) -> list[tuple[Kind, Resource]] | None:
        if self._rules.namespaces is None:
            return None
        try:
            return list(self._listed(sorted(self._rules.namespaces)))
        except ApiFailure as error:
            self._report(wrong("objects", str(error), "see the rights above"))
            return None

    def _listed(self, namespaces: Sequence[str | None]) -> Iterator[tuple[Kind, Resource]]:
        for kind in KINDS:
            for namespace in namespaces:
                for resource in listed(self._rest, kind, namespace):
                    yield kind, resource

    def _finalizers(self, objects: list[tuple[Kind, Resource]]) -> None:
        forgotten = sorted(
            {
                resource.namespace
                for kind, resource in objects
                if kind.finalizer in resource.finalizers
                and service(resource, self._rules.instance) is not Service.FOREIGN
                and not self._rules.watches(resource.namespace)
            }
        )
        for namespace in forgotten:
            found = "objects have our finalizer and no operator looks at them"
            mend = f"lldap-operator release --namespace {namespace}, or watch it"
            self._report(wrong(f"namespace {namespace}", found, mend))
        if not forgotten:
            self._report(ok("finalizers", "none in a namespace that is not watched"))

    def _marks(self, mirror: Mirror, uids: set[str]) -> None:
        dead = [
            f"{words} ({mark.key})"
            for words, mark in self._ours(mirror)
            if self._rules.watches(mark.namespace) and mark.uid not in uids
        ]
        if not dead:
            self._report(ok("marks", "each of ours in lldap has its object"))
            return
        more = f" and {len(dead) - SHOWN} more" if len(dead) > SHOWN else ""
        mend = (
            "create the object again under that name, or remove the attribute kubernetes-owner in "
            "lldap, or delete the account there"
        )
        found = f"marked for objects that are gone: {', '.join(dead[:SHOWN])}{more}"
        self._report(note("marks", found, mend))

    def _ours(self, mirror: Mirror) -> Iterator[tuple[str, Mark]]:
        targets: list[User | Group] = [*mirror.users(), *mirror.groups()]
        for target in targets:
            mark = mark_of(target.attributes)
            if (
                isinstance(mark, Mark)
                and mark.instance == self._rules.instance
                and mark.cluster in {self._rules.cluster, *self._rules.dead_clusters}
            ):
                yield words_of(target), mark
