"""Who takes over what another object leaves: asked of the API server, not of the informers."""

from collections.abc import Iterable

from controller.api import Kind
from controller.harness.finalizers import ObjectGone, reread
from controller.harness.resource import Resource
from controller.instance import Instance
from controller.watching.cache import can_inherit
from controller.watching.indexes import TARGET, indexes


def heir_of(
    instance: Instance, kind: Kind, claim: str, candidates: Iterable[Resource]
) -> Resource | None:
    """The oldest of the candidates that claims the target still.

    The informers may not know yet that an object is gone, and what it would inherit nobody would
    ever delete. Raises what the REST client raises: an answer that is not clear is waited for.
    """
    oldest_first = sorted(candidates, key=lambda each: (each.created, each.key))
    return next((each for each in oldest_first if _inherits(instance, kind, claim, each)), None)


def _inherits(instance: Instance, kind: Kind, claim: str, candidate: Resource) -> bool:
    try:
        reread(instance.kube, candidate)
    except ObjectGone:
        return False
    claims = indexes(kind, instance.rules.instance)[TARGET]
    return can_inherit(candidate) and claim in claims(candidate.raw)
