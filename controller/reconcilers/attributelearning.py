"""What users and groups do where lldap's attributes may be others than at the last bulk read."""

from collections.abc import Callable
from typing import Protocol

from controller.api import GroupSpec, Target, UserSpec
from controller.harness.outcome import Outcome
from controller.instance import Instance
from controller.reconcilers.attributes import Wanted
from lldap import UnknownAttribute


class AttributePass(Protocol):
    """One pass over an object with attributes."""

    wanted: Wanted

    @property
    def spec(self) -> UserSpec | GroupSpec:
        """As declared."""


class AttributeLearning:
    """Asks lldap for its attributes when a pass depends on it. Any thread."""

    def __init__(self, instance: Instance, target: Target) -> None:
        self._instance = instance
        self._target = target

    def may_have_appeared(self, this: AttributePass) -> bool:
        """Whether a missing attribute counts that somebody made in lldap since the last read."""
        return bool(this.wanted.missing) and not self._instance.rules.require_attribute_schema

    def with_attributes(self, this: AttributePass, work: Callable[[], Outcome]) -> Outcome:
        """Do `work` knowing them; again, if somebody deleted one since the last bulk read."""
        if self.may_have_appeared(this):
            self._learn(this)
        try:
            return work()
        except UnknownAttribute:
            self._learn(this)
            return work()

    def _learn(self, this: AttributePass) -> None:
        dependencies = self._instance.dependencies
        dependencies.learn(self._target, self._instance.client.schema())
        self._instance.prepare()
        this.wanted = dependencies.wanted(self._target, this.spec.attributes)
