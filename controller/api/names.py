"""Names that the API shares with the people who use it: group, labels, annotations, conditions."""

from typing import Final

GROUP: Final = "lldap-operator.lukidoescode.com"
VERSION: Final = "v1alpha1"
API_VERSION: Final = f"{GROUP}/{VERSION}"
CATEGORY: Final = "lldap"  # `kubectl get lldap` lists all kinds

FIELD_MANAGER: Final = "lldap-operator"  # owner of what the operator applies
OPERATE_VERB: Final = "operate"  # RBAC verb that tells operators from everybody else

INSTANCE_LABEL: Final = f"{GROUP}/lldap-instance"
INSTANCE_MAX_LENGTH: Final = 40
INSTANCE_PATTERN: Final = "^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$"  # a DNS label of that length

BUILT_IN_ANNOTATION: Final = "lldap-resources-operator.lukidoescode.com/built-in"
DRY_RUN_ANNOTATION: Final = f"{GROUP}/dry-run"
PAUSED_ANNOTATION: Final = f"{GROUP}/paused"
RECONCILE_AT_ANNOTATION: Final = f"{GROUP}/reconcile-at"

READY: Final = "Ready"
RECONCILING: Final = "Reconciling"
STALLED: Final = "Stalled"
CONDITION_TYPES: Final = (READY, RECONCILING, STALLED)  # the operator's; others may add theirs

MARK_ATTRIBUTE: Final = "kubernetes-owner"  # says in lldap which object an account belongs to

# What each label and annotation is for, as the reference says it.
METADATA: Final = {
    INSTANCE_LABEL: (
        "Label, required: the lldap that the object belongs to, and so the operator that serves "
        f"it. A DNS label of at most {INSTANCE_MAX_LENGTH} characters; once set it does not change."
    ),
    DRY_RUN_ANNOTATION: (
        'Annotation, `"true"`: the operator says what it would do, in the Ready condition and an '
        "event, and does nothing; a deletion that would change lldap waits. So does any other word "
        'but `"false"` and the like, to be on the safe side.'
    ),
    PAUSED_ANNOTATION: (
        'Annotation, `"true"`: the operator does nothing for the object; its deletion waits too. '
        'So does any other word but `"false"` and the like.'
    ),
    RECONCILE_AT_ANNOTATION: (
        "Annotation, any text: a new value makes the operator compare everything once more, the "
        "password included."
    ),
    BUILT_IN_ANNOTATION: (
        'Annotation, `"true"`: the LldapGroup shows a built-in group of lldap. Written by the '
        "operator only."
    ),
}
