"""Reads of one thing by something else than its id."""

from typing import Any

import pytest

from lldap import (
    AttributeSchema,
    AttributeType,
    BadAnswer,
    Client,
    Credentials,
    NotFound,
    Session,
    Target,
)
from sandbox.lldap.server import Lldap
from sandbox.lldap.transport import InProcessTransport
from tests.lldap.answer_bodies import user_json
from tests.lldap.scripted_transport import ScriptedTransport, data
from tests.lldap.session_bed import session_of
from tests.support.clock import FakeClock


@pytest.fixture
def client() -> Client:
    clock = FakeClock()
    transport = InProcessTransport(Lldap(clock, admin_password="password"))
    credentials = Credentials("admin", "password")
    client = Client(Session(transport, lambda: credentials, clock=clock, call_seconds=8.0))
    client.add_attribute(Target.USER, AttributeSchema("note", AttributeType.STRING))
    client.create_user("bob", "Bob@b.c", attributes={"note": ["x"]})
    group = client.create_group_with_details("Devs Ä")
    client.add_user_to_group("bob", group.id)
    return client


def test_a_user_is_found_by_its_email_in_any_letter_case(client: Client) -> None:
    assert client.find_user_by_email("bOB@B.C") == "bob"
    assert client.find_user_by_email("nobody@b.c") is None


def test_a_group_is_found_by_its_name_in_any_letter_case(client: Client) -> None:
    found = client.find_group_by_name("dEVS ä")
    assert found is not None
    assert client.group(found).members == {"bob"}
    assert client.find_group_by_name("nosuch") is None


def test_a_user_is_read_with_its_groups(client: Client) -> None:
    user, groups = client.user_with_groups("BOB")
    assert user == client.user("bob")
    assert groups == client.user_groups("bob")
    assert list(groups.values()) == ["Devs Ä"]
    with pytest.raises(NotFound):
        client.user_with_groups("nobody")


def client_of(answer: dict[str, Any]) -> Client:
    return Client(session_of(ScriptedTransport(data(answer))))


@pytest.mark.parametrize("users", [None, "bob", ["bob"], [{"id": 7}], [{"name": "bob"}], {}])
def test_C02_ids_of_another_shape_are_a_bad_answer(users: object) -> None:
    with pytest.raises(BadAnswer):
        client_of({"users": users}).find_user_by_email("b@c.de")


@pytest.mark.parametrize(
    "groups", [None, [[7, "devs"]], [{"id": 7}], [{"id": "7", "displayName": "x"}]]
)
def test_C02_names_of_another_shape_are_a_bad_answer(groups: object) -> None:
    with pytest.raises(BadAnswer):
        client_of({"groups": groups}).find_group_by_name("devs")
    with pytest.raises(BadAnswer):
        client_of({"user": {**user_json(), "groups": groups}}).user_with_groups("bob")


def test_C02_another_user_than_asked_for_is_a_bad_answer() -> None:
    answer = {"user": {**user_json(id="al"), "groups": []}}
    with pytest.raises(BadAnswer):
        client_of(answer).user_with_groups("bob")
