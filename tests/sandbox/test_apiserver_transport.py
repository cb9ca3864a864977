"""The informers' Transport in process: answers, faults on demand, a log of who called."""

import orjson
import pytest

from informers.errors import ConnectionFailed, StreamClosed
from informers.transport import RawResponse, Transport
from sandbox.apiserver.authorization import ANYTHING, AUTHENTICATED, Authenticator, Authorizer, User
from sandbox.apiserver.transport import Call, InProcessTransport
from tests.sandbox.apiserver_client import USERS, Client, user


@pytest.fixture
def client() -> Client:
    client = Client()
    client.install("crds")
    return client


def post(transport: Transport, name: str) -> RawResponse:
    headers = {"Content-Type": "application/json"}
    body = orjson.dumps(user(name))
    return transport.request("POST", USERS, headers=headers, body=body, timeout=1.0)


def test_a_call_gets_the_server_s_answer(client: Client) -> None:
    transport: Transport = InProcessTransport(client.server)
    created = post(transport, "ann")
    assert created.status == 201
    query = [("labelSelector", "a=b,c in (d)"), ("limit", "5")]
    listed = transport.request("GET", USERS, query=query, timeout=1.0)
    assert orjson.loads(listed.body)["items"] == []
    assert listed.headers.get("content-type") == listed.headers.get("Content-Type")


def test_the_user_agent_names_the_field_manager(client: Client) -> None:
    transport = InProcessTransport(client.server, user_agent="harness/1.0")
    entries = orjson.loads(post(transport, "ann").body)["metadata"]["managedFields"]
    assert [entry["manager"] for entry in entries] == ["harness"]


def test_an_escaped_path_names_what_it_escapes(client: Client) -> None:
    transport = InProcessTransport(client.server)
    post(transport, "ann.b")
    assert transport.request("GET", f"{USERS}/ann%2Eb", timeout=1.0).status == 200


def test_the_token_says_who_calls_and_the_log_tells(client: Client) -> None:
    operator = User("operator", groups=(AUTHENTICATED,))
    client = Client(
        authenticator=Authenticator({"t": operator}),
        authorizer=Authorizer({"operator": [ANYTHING]}),
    )
    known = InProcessTransport(client.server, token="t", user="operator")
    unknown = InProcessTransport(client.server, token="wrong", user="stranger")
    nobody = InProcessTransport(client.server)
    path = "/api/v1/namespaces"
    statuses = [each.request("GET", path, timeout=1.0).status for each in (known, unknown, nobody)]
    assert statuses == [200, 401, 403]
    assert [(each.call.user, each.call.path, each.status) for each in known.calls] == [
        ("operator", path, 200)
    ]


def test_a_hook_before_can_answer_for_the_server(client: Client) -> None:
    transport = InProcessTransport(client.server)
    transport.before = lambda _: RawResponse(503, {}, b"")
    assert post(transport, "ann").status == 503
    transport.before = lambda _: None
    assert transport.request("GET", f"{USERS}/ann", timeout=1.0).status == 404


def test_a_hook_before_can_fail_and_nothing_was_done(client: Client) -> None:
    transport = InProcessTransport(client.server)

    def fail(call: Call) -> None:
        raise ConnectionFailed(call.path, sent=False)

    transport.before = fail
    with pytest.raises(ConnectionFailed):
        post(transport, "ann")
    assert client.refused(404, "GET", f"{USERS}/ann")
    assert [each.status for each in transport.calls] == [0]


def test_a_hook_after_can_lose_the_answer_of_what_was_done(client: Client) -> None:
    transport = InProcessTransport(client.server)

    def lose(call: Call, status: int) -> None:
        raise ConnectionFailed(f"{call.path} {status}", sent=True)

    transport.after = lose
    with pytest.raises(ConnectionFailed):
        post(transport, "ann")
    assert client.ok("GET", f"{USERS}/ann")


def test_a_stream_gives_what_there_is_and_none_when_there_is_nothing(client: Client) -> None:
    transport = InProcessTransport(client.server)
    stream = transport.stream(
        USERS, query=[("watch", "1"), ("timeoutSeconds", "9")], timeout=1.0, read_timeout=1.0
    )
    assert (stream.status, stream.read()) == (200, None)
    post(transport, "ann")
    piece = stream.read()
    assert piece is not None
    assert orjson.loads(piece)["type"] == "ADDED"
    client.clock.advance(9)
    assert stream.read() == b""


def test_a_closed_stream_says_so(client: Client) -> None:
    transport = InProcessTransport(client.server)
    stream = transport.stream(USERS, query=[("watch", "1")], timeout=1.0, read_timeout=1.0)
    stream.close()
    with pytest.raises(StreamClosed):
        stream.read()


def test_a_refused_stream_has_its_answer_as_its_body(client: Client) -> None:
    transport = InProcessTransport(client.server)
    query = [("watch", "1"), ("labelSelector", "a in b")]
    stream = transport.stream(USERS, query=query, timeout=1.0, read_timeout=1.0)
    assert stream.status == 400
    assert orjson.loads(stream.read() or b"")["reason"] == "BadRequest"
    assert stream.read() == b""
