"""What somebody else may do at any point of a run, in lldap or in Kubernetes.

The API server may refuse what a person wants.
"""

from collections.abc import Callable
from contextlib import suppress

from informers import StatusError
from tests.faults.bed import FaultBed
from tests.faults.stores import Object

Act = Callable[[FaultBed], None]


def _first(bed: FaultBed, kind: str) -> Object | None:
    return next(iter(bed.safety.stores.objects(kind)), None)


def _user(bed: FaultBed) -> str | None:
    obj = _first(bed, "LldapUser")
    name = None if obj is None else str(obj["spec"]["username"]).lower()
    return name if name not in {None, "admin"} and bed.directory.has_user(str(name)) else None


def delete_account(bed: FaultBed) -> None:
    """In lldap, behind the operator's back."""
    if user := _user(bed):
        bed.directory.delete_user(user)


def edit_account(bed: FaultBed) -> None:
    if user := _user(bed):
        bed.directory.set_attribute(user, "first_name", "By Hand")


def take_off_mark(bed: FaultBed) -> None:
    if user := _user(bed):
        bed.directory.set_mark(user, None)


def set_own_password(bed: FaultBed) -> None:
    if user := _user(bed):
        bed.lldap.set_password(user, f"{user}'s own password")


def delete_group(bed: FaultBed) -> None:
    if bed.directory.has_group("staff"):
        bed.directory.delete_group("staff")


def delete_object(bed: FaultBed) -> None:
    obj = _first(bed, "LldapUser")
    if obj is not None:
        with suppress(StatusError):
            bed.delete("LldapUser", obj["metadata"]["name"], obj["metadata"]["namespace"])


def edit_object(bed: FaultBed) -> None:
    obj = _first(bed, "LldapUser")
    if obj is not None:
        metadata, change = obj["metadata"], {"spec": {"displayName": "Edited"}}
        path = bed.path("LldapUser", metadata["namespace"], metadata["name"])
        with suppress(StatusError):
            bed.admin.patch(path, change, content_type="application/merge-patch+json")


def rotate_secret(bed: FaultBed) -> None:
    with suppress(StatusError):
        bed.secret("pw", b"rotated-password")


ACTS: dict[str, Act] = {
    act.__name__.replace("_", "-"): act
    for act in (
        delete_account,
        edit_account,
        take_off_mark,
        set_own_password,
        delete_group,
        delete_object,
        edit_object,
        rotate_secret,
    )
}
