"""Fields that several kinds have in one shape."""

from typing import Final

from controller.api.fields import Array, Field, Integer, Object, String
from controller.api.names import READY, RECONCILING, STALLED
from controller.api.words import DeletionPolicy, Origin

# The limits of Kubernetes' own Condition (meta/v1).
CONDITION: Final = Object(
    fields=(
        Field(
            name="type",
            type=String(
                max_length=316,
                pattern=(
                    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
                    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
                ),
            ),
            required=True,
            description=(
                f"What it is about: {READY}, {RECONCILING} and {STALLED} are the operator's; "
                "others may add types of their own."
            ),
        ),
        Field(
            name="status",
            type=String(enum=("True", "False", "Unknown")),
            required=True,
            description="Whether it holds.",
        ),
        Field(
            name="reason",
            type=String(
                min_length=1, max_length=1024, pattern="^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
            ),
            required=True,
            description="Why, in one word for programs.",
        ),
        Field(
            name="message",
            type=String(max_length=32768),
            required=True,
            description="Why, in a sentence for people, with what to do next.",
        ),
        Field(
            name="lastTransitionTime",
            type=String(format="date-time"),
            required=True,
            description="When status last changed.",
        ),
        Field(
            name="observedGeneration",
            type=Integer(format="int64", minimum=0),
            description="The metadata.generation that it speaks of.",
        ),
    )
)

INSTANCE: Final = Field(
    name="instance",
    type=String(),
    description="The instance whose operator serves the object.",
)
SERVER: Final = Field(
    name="server",
    type=String(),
    description=(
        "Which lldap it was: the uuid of the group lldap_admin there. Ids and uuids of another "
        "server do not count."
    ),
)
UUID: Final = Field(name="uuid", type=String(), description="The uuid that lldap gave it.")
ORIGIN: Final = Field(
    name="origin",
    type=String(enum=tuple(Origin)),
    description=(
        "Created: the operator made it. Adopted: it was there before. Decides what a deletion "
        "does when spec.deletionPolicy says nothing."
    ),
)
MANAGED: Final = Field(
    name="managed",
    type=Array(items=String()),
    description=(
        "Fields and attributes in lldap that this object sets; one that is dropped from the spec "
        "is cleared, what is not listed is left alone."
    ),
)
RECONCILE_AT: Final = Field(
    name="reconcileAt",
    type=String(),
    description="The value of the reconcile-at annotation that was served last.",
)
SEAL: Final = Field(
    name="seal",
    type=String(),
    description=(
        "Proves that the operator wrote the uuids recorded here; without it they count for nothing."
    ),
)
OBSERVED_GENERATION: Final = Field(
    name="observedGeneration",
    type=Integer(format="int64", minimum=0),
    description="The metadata.generation that was reconciled last.",
)
CONDITIONS: Final = Field(
    name="conditions",
    type=Array(items=CONDITION, key="type"),
    description=f"{READY} is the one to wait for: its reason and message say what is going on.",
)


def deletion_policy(description: str) -> Field:
    """Return the field `deletionPolicy`, which has no default: what none means differs."""
    return Field(
        name="deletionPolicy", type=String(enum=tuple(DeletionPolicy)), description=description
    )
