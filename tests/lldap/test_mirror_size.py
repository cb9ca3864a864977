"""What a large directory costs."""

import tracemalloc

import orjson
import pytest

from lldap import Mirror, answers
from lldap.models import single
from tests.lldap.answer_bodies import group_json, recorded_directory, user_json
from tests.lldap.mirror_bed import Source
from tests.support.clock import FakeClock

USERS = 3000
GROUPS_EACH = 5
BYTES_EACH = 2500


def account(number: int) -> dict[str, object]:
    name = f"user-{number:05}"
    date = f"2026-11-29T20:08:34.{number:09}"
    cluster = "1f0f1f0f-1111-2222-3333-444444444444"
    mark = f"created {cluster} default team-{number % 20}/{name} {number:036}"
    texts = {
        "creation_date": f"{date}+00:00",
        "display_name": f"User Number {number}",
        "mail": f"{name}@example.com",
        "modified_date": f"{date}+00:00",
        "password_modified_date": f"{date[:-1]}5+00:00",
        "user_id": name,
        "uuid": f"8533bb21-501f-316d-98d0-{number:012}",
        "first_name": "User",
        "kubernetes-owner": mark,
        "last_name": f"Number {number}",
    }
    fields = {
        "id": name,
        "email": texts["mail"],
        "displayName": texts["display_name"],
        "firstName": texts["first_name"],
        "lastName": texts["last_name"],
        "uuid": texts["uuid"],
        "creationDate": f"{date}Z",
        "attributes": [{"name": name, "value": [text]} for name, text in texts.items()],
    }
    groups = [{"id": 2 + (number + step * 7) % 100} for step in range(GROUPS_EACH)]
    return {**user_json(**fields), "groups": groups}


@pytest.mark.slow
def test_a_mirrored_user_takes_at_most_two_and_a_half_kilobytes() -> None:
    whole = recorded_directory("sqlite")
    whole["rest"] = [account(number) for number in range(USERS)]
    whole["groups"] = [group_json(id=2 + number) for number in range(100)]
    body = orjson.dumps(whole)
    del whole
    source = Source()
    mirror = Mirror("admin", lambda found: single(found, "kubernetes-owner"), clock=FakeClock())
    tracemalloc.start()
    data = answers.read_in_bulk(body)
    assert isinstance(data, dict)
    directory = answers.directory(data, ["rest"])
    del data
    source.users, source.schema = list(directory.users), directory.schema
    source.groups += directory.groups
    mirror.refresh(source)
    del directory, source
    size, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(mirror.users()) == USERS
    assert len(mirror.groups_of("user-00000")) == GROUPS_EACH
    assert size / USERS < BYTES_EACH
    assert peak / USERS < 2 * BYTES_EACH
