"""A remote system of nothing but names, and a handler for it: what a harness is tried with."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from controller.api import DeletionPolicy
from controller.harness.harness import Harness
from controller.harness.harnessconfig import HarnessConfig
from controller.harness.outcome import Outcome, Result, converged
from controller.harness.resource import Resource
from controller.harness.taxonomy import Cadences, Disposition, Rule, Taxonomy
from tests.support.kubebed import FINALIZER, KubeBed

DRY_RUN = "example.org/dry-run"
TERMINAL = Rule(Disposition.TERMINAL)
FIXED = Rule(Disposition.FIXED_REQUEUE)
BACKOFF = Rule(Disposition.BACKOFF)
CADENCES = Cadences(ready=600.0, progressing=5.0, transient=30.0, terminal=900.0)


@dataclass
class Remote:
    """The client that a handler gets."""

    calls: list[str] = field(default_factory=list)


class FooHandler:
    """Does what the test says; everything that is called is in `remote.calls`."""

    finalizer = FINALIZER

    def __init__(self) -> None:
        self.outcome: Callable[[], Outcome] = lambda: converged("Verified", "foo is there")
        self.deletes: Callable[[], None] = lambda: None
        self.plans: Callable[[], list[str]] = lambda: ["create foo"]

    def converge(self, resource: Resource, client: Remote) -> Outcome:
        client.calls.append("converge")
        return self.outcome()

    def delete(self, resource: Resource, client: Remote) -> None:
        client.calls.append("delete")
        self.deletes()

    def plan(self, resource: Resource, client: Remote) -> list[str]:
        return self.plans()


class TidyHandler(FooHandler):
    """A CleanupHandler and a DeletionPolicyProvider."""

    def __init__(self, remote: Remote, policy: DeletionPolicy) -> None:
        super().__init__()
        self.remote = remote
        self.policy = policy
        self.cleans: Callable[[], None] = lambda: None

    def cleanup(self, resource: Resource) -> None:
        self.remote.calls.append(f"cleanup with {resource.finalizers}")
        self.cleans()

    def deletion_policy(self, resource: Resource) -> DeletionPolicy:
        return self.policy


class HarnessBed(KubeBed):
    """A harness over the sandbox's API server."""

    def __init__(self) -> None:
        super().__init__()
        self.remote = Remote()
        self.events: list[tuple[str, str, str]] = []

    def config(self, **knobs: Any) -> HarnessConfig[Remote]:
        defaults = {
            "kube": self.kube,
            "status": self.status,
            "clock": self.clock,
            "resolve": lambda _resource: self.remote,
            "taxonomy": Taxonomy({"Invalid": TERMINAL, "NotYet": FIXED, "Broken": BACKOFF}),
            "cadences": CADENCES,
            "recorder": lambda _resource, *event: self.events.append(event),
        }
        return HarnessConfig(**{**defaults, **knobs})

    def run(
        self, resource: Resource | None = None, handler: FooHandler | None = None, **knobs: Any
    ) -> Result:
        """One pass over the object as it is now."""
        harness = Harness(self.config(**knobs))
        return harness.run(resource or self.get(), handler or FooHandler())

    def shown(self) -> tuple[str, str, str]:
        """Status, reason and message of Ready."""
        ready = self.ready()
        return ready["status"], ready["reason"], ready["message"]

    def types(self) -> dict[str, str]:
        return {c["type"]: c["status"] for c in self.get().recorded.get("conditions", [])}
