"""The checks of `lldap-operator doctor` on the API server."""

from collections.abc import Iterator, Mapping
from typing import Any

from controller.api import KINDS, Kind
from controller.api.schema import custom_resource_definition
from controller.configuration.config import Config
from controller.doctor.findings import Report, note, ok, unknown, wrong
from controller.doctor.rights import Right, needed
from controller.election.lease import LeaseLock
from informers import ApiFailure, Object, RestClient, StatusError, StatusKind

POLICIES = ("lldap-operator-built-in", "lldap-operator-instance-label", "lldap-operator-status")
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_AS_ADMINISTRATOR = "run doctor as an administrator of the cluster to have this checked"


class ClusterChecks:
    """One thread."""

    def __init__(self, config: Config, rest: RestClient, report: Report) -> None:
        self._config = config
        self._rest = rest
        self._report = report

    def run(self) -> bool:
        """All of them; False if the API server gives no answer at all."""
        if not self._server():
            return False
        for kind in KINDS:
            self._definition(kind)
        self._policies()
        self._rights()
        self._namespaces()
        if self._config.leader_elect:
            self._lease()
        return True

    def _server(self) -> bool:
        try:
            version = self._rest.get("/version").get("gitVersion", "")
            review = self._rest.post(
                "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"},
            )
        except ApiFailure as error:
            mend = "check KUBECONFIG, the token of the service account and network policies"
            self._report(wrong("API server", str(error), mend))
            return False
        name = review.get("status", {}).get("userInfo", {}).get("username", "")
        self._report(ok("API server", f"{version}, asked as {name}"))
        return True

    # --- the kinds ---------------------------------------------------------------------------

    def _definition(self, kind: Kind) -> None:
        try:
            live = self._rest.get(f"{_DEFINITIONS}/{kind.crd_name}")
        except StatusError as error:
            if error.kind is not StatusKind.NOT_FOUND:
                self._report(unknown(kind.crd_name, str(error), _AS_ADMINISTRATOR))
                return
            mend = "kubectl apply --server-side -k deploy/crds"
            self._report(wrong(kind.crd_name, "the CRD is not installed", mend))
            return
        except ApiFailure as error:
            self._report(unknown(kind.crd_name, str(error)))
            return
        self._compare(kind, live)

    def _compare(self, kind: Kind, live: Object) -> None:
        if "deletionTimestamp" in live["metadata"]:
            mend = "lldap-operator release --all, and install it again"
            self._report(wrong(kind.crd_name, "the CRD is being deleted", mend))
            return
        shipped: Any = custom_resource_definition(kind)["spec"]
        difference = next(differences(shipped, live.get("spec")), None)
        if difference is not None:
            found = f"the CRD is another than this release brings ({difference})"
            mend = "kubectl apply --server-side -k deploy/crds, of this release"
            self._report(wrong(kind.crd_name, found, mend))
            return
        self._report(ok(kind.crd_name, "installed, and as this release brings it"))

    # --- admission ---------------------------------------------------------------------------

    def _policies(self) -> None:
        for name in POLICIES:
            subject = f"policy {name}"
            try:
                self._rest.get(f"{_ADMISSION}/validatingadmissionpolicies/{name}")
                binding = self._rest.get(f"{_ADMISSION}/validatingadmissionpolicybindings/{name}")
            except StatusError as error:
                self._policy_missing(subject, error)
            except ApiFailure as error:
                self._report(unknown(subject, str(error)))
            else:
                self._binding(subject, binding.get("spec") or {})

    def _policy_missing(self, subject: str, error: StatusError) -> None:
        if error.kind is StatusKind.NOT_FOUND:
            found = "it, or its binding, is not installed"
            self._report(wrong(subject, found, "kubectl apply -k deploy/policies"))
        else:
            self._report(unknown(subject, str(error), _AS_ADMINISTRATOR))

    def _binding(self, subject: str, spec: Mapping[str, Any]) -> None:
        whole = not {"matchResources", "paramRef"} & {name for name, value in spec.items() if value}
        if whole and "Deny" in (spec.get("validationActions") or ()):
            self._report(ok(subject, "installed, and it denies"))
        else:
            found = "its binding does not deny, or not everywhere"
            self._report(wrong(subject, found, "kubectl apply -k deploy/policies"))

    # --- rights ------------------------------------------------------------------------------

    def _rights(self) -> None:
        rights = list(needed(self._config))
        try:
            missing = [right for right in rights if not self._may(right)]
        except ApiFailure as error:
            self._report(unknown("rights in Kubernetes", str(error)))
            return
        for right in missing:
            mend = "apply deploy/operator of this release; in a watched namespace the RoleBinding"
            self._report(wrong("rights in Kubernetes", f"may not {right}", mend))
        if not missing:
            self._report(ok("rights in Kubernetes", f"all {len(rights)} that are needed"))

    def _may(self, right: Right) -> bool:
        attributes = {
            "verb": right.verb,
            "group": right.group,
            "resource": right.resource,
            "subresource": right.subresource,
            "namespace": right.namespace,
            "name": right.name,
        }
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {k: v for k, v in attributes.items() if v}},
        }
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        return self._rest.post(path, body).get("status", {}).get("allowed") is True

    # --- namespaces and the Lease ------------------------------------------------------------

    def _namespaces(self) -> None:
        """Who may not read one, as the operator itself, was told of a missing right above."""
        for name in self._config.watch_namespaces:
            try:
                self._rest.get(f"/api/v1/namespaces/{name}")
            except StatusError as error:
                if error.kind is StatusKind.NOT_FOUND:
                    mend = "make it, or leave it out; its objects are seen as soon as it is there"
                    self._report(note(f"namespace {name}", "is watched and not there", mend))
            except ApiFailure as error:
                self._report(unknown(f"namespace {name}", str(error)))

    def _lease(self) -> None:
        config = self._config
        lock = LeaseLock(self._rest, config.lease_namespace, config.lease_name)
        subject = f"Lease {config.lease_namespace}/{config.lease_name}"
        try:
            lease = lock.get(config.call_seconds)
        except ApiFailure as error:
            self._report(unknown(subject, str(error)))
            return
        if lease is None or not lease.record.holder:
            mend = "start the operator; its log says if it cannot take the Lease"
            self._report(note(subject, "nobody leads", mend))
        else:
            record = lease.record
            found = f"{record.holder} leads, seen alive at {record.renew_time}"
            self._report(ok(subject, found))


def differences(shipped: object, live: object, at: str = "") -> Iterator[str]:
    """Where `live` lacks something of `shipped`; what the server adds is no difference."""
    if isinstance(shipped, dict) and isinstance(live, dict):
        for name, value in shipped.items():
            yield from differences(value, live.get(name), f"{at}.{name}" if at else name)
    elif isinstance(shipped, list) and isinstance(live, list) and len(shipped) == len(live):
        for number, (ours, theirs) in enumerate(zip(shipped, live, strict=True)):
            yield from differences(ours, theirs, f"{at}[{number}]")
    elif shipped != live:
        yield at
