"""Informers: REST list and watch → reflector → store and indexer → shared informer → lister.

- A store is replaced by whole lists only and changed by watch events in the server's order; what
  was missed between two watches is found by the next list and told as one deletion with an unknown
  final state, one update or one addition.
- The store and its indexes change before a handler is told. Calls to one handler are sequential; a
  handler that is slow or raises holds up no other.
- Nothing that a server does ends a reflector: every failure is kept in `last_error`, waited for
  (backoff, Retry-After) and tried again.
- A call ends within its time, whatever the server does; a watch and a call in progress can be
  ended from another thread.
- Only the errors of informers.errors come out. A refusal's meaning is decided in one table there.
- Objects are plain JSON, shared and read-only by contract. Nothing logs one.
- No thread is started, no clock, randomness or network taken that was not handed in. What repeats
  has a `step()` that returns the seconds until the next.
- Nothing is known here of any kind but Status.
"""

from informers.apiclient import ApiClientTransport
from informers.clock import Clock
from informers.errors import (
    AnswerTooLarge,
    ApiFailure,
    ConnectionFailed,
    DeadlineExceeded,
    EndOfStream,
    GarbledStream,
    StatusError,
    StatusKind,
    StreamClosed,
    UnexpectedAnswer,
)
from informers.events import Handler
from informers.indexer import Indexer, IndexFunc
from informers.informer import SharedInformer, by_namespace
from informers.listener import Registration
from informers.lister import Lister
from informers.listwatch import ListerWatcher, ListPage, ListWatch, WatchStream
from informers.metrics import InformerMetrics, RestMetrics
from informers.objects import Object, key_of, object_key
from informers.reflector import Reflector, ReflectorTarget
from informers.rest import PatchType, RestClient
from informers.store import Store
from informers.transform import Transform, drop_managed_fields, drop_metadata
from informers.transport import BeforeSend, RawResponse, RawStream, Transport
from informers.watchstream import WatchEvent

__all__ = [
    "AnswerTooLarge",
    "ApiClientTransport",
    "ApiFailure",
    "BeforeSend",
    "Clock",
    "ConnectionFailed",
    "DeadlineExceeded",
    "EndOfStream",
    "GarbledStream",
    "Handler",
    "IndexFunc",
    "Indexer",
    "InformerMetrics",
    "ListPage",
    "ListWatch",
    "Lister",
    "ListerWatcher",
    "Object",
    "PatchType",
    "RawResponse",
    "RawStream",
    "Reflector",
    "ReflectorTarget",
    "Registration",
    "RestClient",
    "RestMetrics",
    "SharedInformer",
    "StatusError",
    "StatusKind",
    "Store",
    "StreamClosed",
    "Transform",
    "Transport",
    "UnexpectedAnswer",
    "WatchEvent",
    "WatchStream",
    "by_namespace",
    "drop_managed_fields",
    "drop_metadata",
    "key_of",
    "object_key",
]
