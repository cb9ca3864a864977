"""ValidatingAdmissionPolicies: CEL over a write that the schema has let pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sandbox.apiserver import cel
from sandbox.apiserver.authorization import Attributes, Authorizer, User
from sandbox.apiserver.errors import StatusError, quote
from sandbox.apiserver.objects import Object, Value
from sandbox.apiserver.resources import Resource
from sandbox.apiserver.store import Store

POLICIES = "validatingadmissionpolicies.admissionregistration.k8s.io"
BINDINGS = "validatingadmissionpolicybindings.admissionregistration.k8s.io"
CODES = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413, "Invalid": 422}


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """One write, as a policy sees it."""

    operation: str
    resource: Resource
    subresource: str
    namespace: str
    name: str
    user: User
    new: Object
    old: Object | None
    dry_run: bool

    def request(self) -> Object:
        """The variable `request`."""
        resource = self.resource
        return {
            "operation": self.operation,
            "name": self.name,
            "namespace": self.namespace,
            "subResource": self.subresource,
            "kind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
            "resource": {
                "group": resource.group,
                "version": resource.version,
                "resource": resource.plural,
            },
            "userInfo": self.user.info(),
            "dryRun": self.dry_run,
        }


class Policies:
    """The policies of a store. Any thread.

    A policy counts as soon as its binding is written. Expressions are compiled once a text.
    """

    def __init__(self, store: Store, authorizer: Authorizer) -> None:
        self._store = store
        self._authorizer = authorizer
        self._compiled: dict[str, cel.Expression] = {}

    def admit(self, admission: Admission) -> list[str]:
        """Return warnings. Raises StatusError for what a policy denies."""
        if not self._store.count(BINDINGS):
            return []
        warnings = []
        for binding in self._store.snapshot(BINDINGS)[0]:
            policy = self._store.get(POLICIES, binding["spec"]["policyName"])
            if policy is None or not _matches(policy["spec"], admission):
                continue
            for message, reason in self._failures(policy["spec"], admission):
                names = (policy["metadata"]["name"], binding["metadata"]["name"])
                if "Deny" in binding["spec"].get("validationActions", ()):
                    raise _denied(admission, names, message, reason)
                warnings.append(
                    f"Validation failed for ValidatingAdmissionPolicy '{names[0]}' with binding "
                    f"'{names[1]}': {message}"
                )
        return warnings

    def _expression(self, text: str) -> cel.Expression:
        if text not in self._compiled:
            self._compiled[text] = cel.Expression(text)
        return self._compiled[text]

    def _failures(self, spec: Object, admission: Admission) -> Iterator[tuple[str, str]]:
        """The message and reason of each validation that is not true."""
        scope = cel.Scope(_variables(admission), self._functions(admission.user))
        run = _Run(self._expression, scope)
        if not all(run.is_true(each["expression"]) for each in spec.get("matchConditions") or ()):
            return
        run.define(spec.get("variables") or ())
        for each in spec["validations"]:
            reason = each.get("reason", "Invalid")
            try:
                if run.evaluate(each["expression"]) is True:
                    continue
                yield run.message(each), reason
            except cel.EvaluationError as error:
                if spec.get("failurePolicy", "Fail") == "Fail":
                    text = each["expression"]
                    yield f"expression '{text}' resulted in error: {error}", "Invalid"

    def _functions(self, user: User) -> dict[str, Callable[..., Value]]:
        """CEL's functions, and those of `authorizer`, whose value is what was asked so far."""

        def allowed(asked: Mapping[str, str]) -> bool:
            return self._authorizer.allows(user, Attributes(**asked))

        def step(key: str) -> Callable[..., Value]:
            return lambda asked, value: {**asked, key: value}

        chained = {
            name: step(name) for name in ("group", "resource", "subresource", "namespace", "name")
        }
        return {**cel.FUNCTIONS, **chained, "check": step("verb"), "allowed": allowed}


@dataclass(slots=True)
class _Run:
    """The evaluation of one policy."""

    compiled: Callable[[str], cel.Expression]
    scope: cel.Scope

    def evaluate(self, text: str) -> Value:
        return self.compiled(text).evaluate(self.scope)

    def is_true(self, text: str) -> bool:
        return self.evaluate(text) is True

    def define(self, variables: Value) -> None:
        """One that fails is missing, and so fails who uses it."""
        for each in variables:
            try:
                value = self.evaluate(each["expression"])
            except cel.EvaluationError:
                continue
            self.scope.add(each["name"], value)

    def message(self, validation: Object) -> str:
        told = validation.get("messageExpression")
        if told:
            try:
                return str(self.evaluate(told))
            except cel.EvaluationError:
                pass
        return validation.get("message") or f"failed expression: {validation['expression']}"


def _variables(admission: Admission) -> dict[str, Value]:
    return {
        "object": cel.without_nulls(admission.new),
        "oldObject": cel.without_nulls(admission.old),
        "request": admission.request(),
        "authorizer": {},
    }


def _matches(spec: Object, admission: Admission) -> bool:
    resource = admission.resource
    full = (
        f"{resource.plural}/{admission.subresource}" if admission.subresource else resource.plural
    )
    return any(
        {"*", admission.operation} & set(rule["operations"])
        and {"*", resource.group} & set(rule["apiGroups"])
        and {"*", resource.version} & set(rule["apiVersions"])
        and {"*", "*/*", full} & set(rule["resources"])
        for rule in spec["matchConstraints"]["resourceRules"]
    )


def _denied(admission: Admission, names: tuple[str, str], message: str, reason: str) -> StatusError:
    policy, binding = names
    text = (
        f"ValidatingAdmissionPolicy '{policy}' with binding '{binding}' denied request: {message}"
    )
    resource = admission.resource
    details = {"name": admission.name, "group": resource.group, "kind": resource.plural}
    about = f"{resource.qualified} {quote(admission.name)} is forbidden: "
    filled: Object = {key: value for key, value in details.items() if value}
    return StatusError(
        CODES[reason], reason, about + text, {**filled, "causes": [{"message": text}]}
    )
