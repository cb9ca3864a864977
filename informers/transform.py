"""What is taken off an object before it is stored."""

from collections.abc import Callable

import orjson

from informers.objects import Object, Objects

Transform = Callable[[Object], Object]
"""Called once for each object received, before anybody else has it: it may change its argument.

It must not raise: an error of it is a fault of the program and ends the reflector's step.
"""


def compacted(objects: Objects) -> Objects:
    """The same objects, close together in memory; `objects` is emptied.

    What stays of a parsed list lies between what was dropped of it, and so keeps all of the
    memory: that is twice as much as the objects need. Written out and read anew when the rest is
    gone, they lie side by side.
    """
    written = orjson.dumps(objects)
    objects.clear()
    found: Objects = orjson.loads(written)
    return found


def drop_metadata(*fields: str) -> Transform:
    """A transform that removes these fields of `metadata`."""

    def drop(obj: Object) -> Object:
        metadata = obj["metadata"]
        for field in fields:
            metadata.pop(field, None)
        return obj

    return drop


drop_managed_fields = drop_metadata("managedFields")
"""They are often larger than the object and of use to nobody who only reads it."""
