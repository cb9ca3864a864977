"""Whether a deletion is meant: what the API server says about the CRD and the namespace."""

import pytest

from controller.api import LLDAP_USER
from controller.harness.guard import REMEMBERED_SECONDS, UninstallGuard
from controller.harness.reasoned import ReasonedError
from informers import ConnectionFailed, RawResponse
from sandbox.apiserver.transport import Call
from tests.support.kubebed import KubeBed, raw_answer, status_answer

CRD = f"/{LLDAP_USER.crd_name}"
NAMESPACE = "/api/v1/namespaces/team-a"


@pytest.fixture
def bed() -> KubeBed:
    return KubeBed()


def answering(bed: KubeBed, path: str, answer: RawResponse | Exception) -> None:
    def before(call: Call) -> RawResponse | None:
        if not call.path.endswith(path):
            return None
        if isinstance(answer, Exception):
            raise answer
        return answer

    bed.transport.before = before


def guard_of(bed: KubeBed, namespace: str = "team-a") -> UninstallGuard:
    return UninstallGuard(bed.kube, namespace, bed.clock.monotonic)


def uninstalling(bed: KubeBed, namespace: str = "team-a") -> bool:
    return guard_of(bed, namespace).uninstalling(LLDAP_USER)


def test_nothing_is_being_uninstalled(bed: KubeBed) -> None:
    assert not uninstalling(bed)
    paths = [answered.call.path for answered in bed.transport.calls]
    assert len(paths) == 2
    assert paths[0].endswith(CRD)
    assert paths[1] == NAMESPACE


def test_a_crd_that_is_being_deleted_or_gone_is_an_uninstall(bed: KubeBed) -> None:
    bed.create(finalizers=["example.org/holds"])
    bed.admin.delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions{CRD}")
    assert uninstalling(bed)
    bed.merge({"metadata": {"finalizers": []}})
    bed.clock.advance(5)
    bed.api.step()
    assert uninstalling(bed)


def test_a_namespace_of_the_operator_that_is_being_deleted_is_one(bed: KubeBed) -> None:
    bed.create(finalizers=["example.org/holds"])
    bed.admin.delete(NAMESPACE)
    assert uninstalling(bed)


def test_a_namespace_that_is_not_there_is_no_answer(bed: KubeBed) -> None:
    with pytest.raises(ReasonedError):
        uninstalling(bed, "nowhere")


UNCLEAR: dict[str, RawResponse | Exception] = {
    "403": status_answer(403, "Forbidden"),
    "404 of a server that knows no CRDs": raw_answer(404, b"404 page not found"),
    "429": status_answer(429, "TooManyRequests"),
    "500": status_answer(500, "InternalError"),
    "502": raw_answer(502, b"<html>"),
    "garbage": raw_answer(200, b"<html>"),
    "an empty object": raw_answer(200, b"{}"),
    "another object": raw_answer(200, b'{"metadata":{"name":"other"}}'),
    "a Status that says success": raw_answer(200, b'{"kind":"Status","metadata":{}}'),
    "no connection": ConnectionFailed("refused", sent=False),
}


@pytest.mark.parametrize("path", [CRD, NAMESPACE])
@pytest.mark.parametrize("answer", UNCLEAR.values(), ids=UNCLEAR)
def test_whatever_is_no_clear_answer_means_wait(
    bed: KubeBed, answer: RawResponse | Exception, path: str
) -> None:
    answering(bed, path, answer)
    with pytest.raises(ReasonedError) as raised:
        uninstalling(bed)
    assert raised.value.reason == "Deleting"
    assert path.rpartition("/")[2] in raised.value.message


# --- what was said a moment ago ------------------------------------------------------------------


def test_what_was_said_a_moment_ago_is_remembered_for_that_moment(bed: KubeBed) -> None:
    guard = guard_of(bed)
    assert not guard.lately(LLDAP_USER)
    bed.create(finalizers=["example.org/holds"])
    bed.admin.delete(NAMESPACE)
    assert not guard.lately(LLDAP_USER)
    assert guard.uninstalling(LLDAP_USER)  # right before a deletion nothing is remembered
    bed.clock.advance(REMEMBERED_SECONDS)
    assert guard.lately(LLDAP_USER)


def test_nobody_could_say_counts_as_no_uninstall_a_moment_ago(bed: KubeBed) -> None:
    answering(bed, CRD, ConnectionFailed("refused", sent=False))
    guard = guard_of(bed)
    assert [guard.lately(LLDAP_USER) for _ in range(5)] == [False] * 5
    assert len(bed.transport.calls) == 1
