"""What may differ from the end of the undisturbed run, because it is promised no better.

docs/operations/late-landings.md has the writes that land late. Besides: Retain, a release and a
change of instance take the mark off without waiting for an lldap that does not answer, so that a
mark that no object needs any more may stay.
"""

import re
from collections.abc import Iterable

from tests.faults.plan import Fault, Plan

_STALE_MARK = (
    r"lldap (user|group) .*: attributes: kubernetes-owner: .* instead of None",
    # The object that left comes back, and finds its own mark instead of none.
    r"lldap (user|group) .*: kubernetes-owner: \['created', .*\] instead of \['adopted', .*\]",
    r"Lldap(User|Group) .*: status: origin: 'Created' instead of 'Adopted'",
)

_UNSEEN = {
    # Away and back while the operator could not look: it never left.
    "user-goes-and-comes-back": _STALE_MARK[1:],
    # The second object is gone before the operator served it, so it took nothing that could go.
    # Nobody knew that the other group waits for this name: it takes it by a rename afterwards.
    "group-renamed-to-a-taken-name": (r"lldap group staff: None instead of .*",),
    "user-retained-and-created-again": (r"lldap user alice: \{.*\} instead of None",),
}
"""By the workload, what is so when an object or an edit of it was not seen in time."""

_LANDED = {
    "createUser": (r"lldap user .*: \{.*'uid of nobody'.*\} instead of None",),
    "createGroupWithDetails": (r"lldap group .*: \{.*'uid of nobody'.*\} instead of None",),
    "updateUser": (r"lldap user .*: attributes: (?!kubernetes-owner).* instead of None",),
    "updateGroup": (r"lldap group .*: attributes: (?!kubernetes-owner).* instead of None",),
    "deleteUser": (r"lldap user .*: attributes: .*: None instead of .*",),
    "addUserToGroup": (r"lldap (user|group) .*: links: .*",),
    "/auth/opaque/register/finish": (
        r"LldapUser .*: status: passwordModifiedDate: 'another' instead of 'as in lldap'",
    ),
    "addUserAttribute": (r"lldap user attribute .*: .* instead of None",),
    "addGroupAttribute": (r"lldap group attribute .*: .* instead of None",),
    "deleteUserAttribute": (r"lldap user .*: attributes: .*: None instead of .*",),
    "deleteGroupAttribute": (r"lldap group .*: attributes: .*: None instead of .*",),
}
"""By the operation that landed late, what stays of it."""

_CRASHES = frozenset({"crash-before", "crash-after"})


def not_tolerated(plan: Plan, differences: Iterable[str]) -> list[str]:
    """The differences that nothing in the plan excuses."""
    excuses = [*_UNSEEN.get(plan.workload, ()), *(e for f in plan.faults for e in _excused(f))]
    patterns = [re.compile(each) for each in excuses]
    return [each for each in differences if not any(p.fullmatch(each) for p in patterns)]


def _excused(fault: Fault) -> Iterable[str]:
    server, _, call = fault.at.partition(" ")
    if server != "lldap" or fault.do in _CRASHES:
        return ()
    landed = (
        _LANDED.get(re.split("[ #]", call)[0], ()) if fault.do in {"late", "crash-late"} else ()
    )
    return (*_STALE_MARK, *landed)
