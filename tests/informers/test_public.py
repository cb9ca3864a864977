"""The public names are those that are promised."""

import inspect

import informers

PROMISED = {
    *("ApiClientTransport", "BeforeSend", "PatchType", "RawResponse", "RawStream", "RestClient"),
    *("RestMetrics", "Transport"),
    *("AnswerTooLarge", "ApiFailure", "ConnectionFailed", "DeadlineExceeded", "EndOfStream"),
    *("GarbledStream", "StatusError", "StatusKind", "StreamClosed", "UnexpectedAnswer"),
    *("ListPage", "ListWatch", "ListerWatcher", "WatchEvent", "WatchStream"),
    *("Clock", "InformerMetrics", "Reflector", "ReflectorTarget"),
    *("IndexFunc", "Indexer", "Lister", "Object", "Store", "key_of", "object_key"),
    *("Handler", "Registration", "SharedInformer", "by_namespace"),
    *("Transform", "drop_managed_fields", "drop_metadata"),
}


def test_all_lists_exactly_the_promised_names() -> None:
    assert set(informers.__all__) == PROMISED
    assert informers.__all__ == sorted(informers.__all__)
    assert all(hasattr(informers, name) for name in informers.__all__)


def test_every_failure_has_one_root() -> None:
    errors = [
        value
        for name in informers.__all__
        if inspect.isclass(value := getattr(informers, name)) and issubclass(value, Exception)
    ]
    assert len(errors) == 9
    assert all(issubclass(error, informers.ApiFailure) for error in errors)
