"""Logins, tokens and cookies."""

import base64
import json

import pytest

from lldap.opaque import KeptKey, Version
from sandbox.lldap.exchange import Response
from sandbox.lldap.server import Lldap
from tests.sandbox.lldap_session import (
    ADMIN_PASSWORD,
    JSON,
    client,
    encoded,
    log_in,
    new_lldap,
    post,
    proves,
    simple_login,
)
from tests.support.clock import FakeClock


def get(lldap: Lldap, path: str, refresh_token: str) -> Response:
    return lldap.handle("GET", path, {"Refresh-Token": refresh_token}, b"")


def test_a_token_is_valid_for_one_day_and_a_refresh_token_for_thirty() -> None:
    clock = FakeClock()
    lldap = new_lldap(clock)
    session = log_in(lldap)
    clock.advance(24 * 3600)
    assert session.data("{apiVersion}")
    clock.advance(1)
    answer = session.send("{apiVersion}")
    assert (answer.status, answer.body) == (401, b"Expired JWT")
    assert get(lldap, "/auth/refresh", session.refresh_token).status == 200
    clock.advance(29 * 24 * 3600)
    assert get(lldap, "/auth/refresh", session.refresh_token).status == 401


def test_logging_out_revokes_every_token_of_that_user_and_of_nobody_else() -> None:
    lldap = new_lldap()
    admin = log_in(lldap)
    admin.create_user("alice")
    admin.register("alice", "password")
    here, there = (log_in(lldap, "alice", "password") for _ in range(2))
    assert get(lldap, "/auth/logout", here.refresh_token).status == 200
    for session in (here, there):
        answer = session.send("{apiVersion}")
        assert (answer.status, answer.body) == (401, b"JWT was logged out")
    assert get(lldap, "/auth/refresh", here.refresh_token).status == 401
    assert get(lldap, "/auth/refresh", there.refresh_token).status == 200
    assert admin.data("{apiVersion}")


def test_a_deleted_user_cannot_refresh_and_its_token_lives_on() -> None:
    lldap = new_lldap()
    admin = log_in(lldap)
    admin.create_user("alice")
    admin.register("alice", "password")
    alice = log_in(lldap, "alice", "password")
    admin.data('mutation{deleteUser(userId:"alice"){ok}}')
    assert get(lldap, "/auth/refresh", alice.refresh_token).status == 401
    assert alice.data("{apiVersion}")
    assert alice.error('{user(userId:"alice"){id}}') == "Entity not found: `alice`"


@pytest.mark.parametrize("token", ["x", "a.b.c", ""])
def test_a_token_that_was_not_made_here_is_invalid(token: str) -> None:
    lldap = new_lldap()
    headers = {"Authorization": f"Bearer {token}"}
    answer = post(lldap, "/api/graphql", {"query": "{apiVersion}"}, headers)
    assert (answer.status, answer.body) == (401, b"Invalid JWT" if token else b"")


def test_a_cookie_counts_before_the_header() -> None:
    lldap = new_lldap()
    session = log_in(lldap)
    query = {"query": "{apiVersion}"}
    assert post(lldap, "/api/graphql", query, {"Cookie": f"token={session.token}"}).status == 200
    bad = {"Cookie": "token=bad", **session.headers}
    assert post(lldap, "/api/graphql", query, bad).body == b"Invalid JWT"


def test_a_login_sets_both_cookies_on_the_path_that_it_is_served_under() -> None:
    lldap = new_lldap(prefix="/people")
    body = {"username": "admin", "password": ADMIN_PASSWORD}
    assert post(lldap, "/auth/simple/login", body).status == 404
    answer = post(lldap, "/people/auth/simple/login", body)
    cookies = [value for name, value in answer.headers if name == "set-cookie"]
    assert [cookie.split("; ")[0].split("=")[0] for cookie in cookies] == [
        "token",
        "refresh_token",
    ]
    assert "Path=/people/; Max-Age=86400" in cookies[0]
    assert "Path=/people/auth; Max-Age=2592000" in cookies[1]


def test_a_body_that_is_no_json_is_refused_with_its_place() -> None:
    lldap = new_lldap()
    answer = lldap.handle("POST", "/auth/simple/login", JSON, b'{"username":"admin"')
    text = b"Json deserialize error: EOF while parsing an object at line 1 column 19"
    assert (answer.status, answer.body) == (400, text)
    answer = post(lldap, "/auth/simple/login", {"username": "admin"})
    assert answer.body.startswith(b"Json deserialize error: missing field `password`")
    answer = lldap.handle("POST", "/auth/simple/login", {}, b"{}")
    assert (answer.status, answer.body) == (400, b"Content type error")


@pytest.mark.parametrize(
    ("speaks", "registered", "login", "proved"),
    [
        ("0.7", "0.7", 200, {"0.7": True, "4.0": False}),
        ("0.7", "4.0", 401, {"0.7": False, "4.0": False}),
        ("4.0", "0.7", 401, {"0.7": True, "4.0": False}),
        ("4.0", "4.0", 200, {"0.7": False, "4.0": True}),
    ],
)
def test_a_registration_in_the_wrong_version_is_taken_and_useless(
    speaks: str, registered: str, login: int, proved: dict[str, bool]
) -> None:
    lldap = new_lldap(speaks=Version(speaks))
    admin = log_in(lldap)
    admin.create_user("alice")
    assert admin.register("alice", "password", Version(registered)) == (200, 200)
    assert simple_login(lldap, "alice", "password").status == login
    for version, result in proved.items():
        assert proves(lldap, "alice", "password", Version(version)) is result
    assert proves(lldap, "alice", "another", Version(registered)) is False


def test_an_upgraded_server_reencodes_a_record_at_its_owners_next_login() -> None:
    lldap = new_lldap()
    admin = log_in(lldap)
    admin.create_user("alice")
    admin.register("alice", "password")
    v07 = "/auth/opaque/v07/login/start"
    assert proves(lldap, "alice", "password", path=v07) == 404
    lldap.upgrade()
    before = admin.attributes("alice")
    assert admin.data("{apiVersion}")
    assert proves(lldap, "alice", "password", Version.V4_0) == 409
    assert proves(lldap, "alice", "password", Version.V0_7, v07) is True
    assert proves(lldap, "alice", "another", Version.V0_7, v07) is False
    assert simple_login(lldap, "alice", "another").status == 401
    assert proves(lldap, "alice", "password", Version.V4_0) == 409
    assert simple_login(lldap, "alice", "password").status == 200
    assert proves(lldap, "alice", "password", Version.V4_0) is True
    assert proves(lldap, "alice", "password", Version.V0_7, v07) is False
    after = admin.attributes("alice")
    assert after["password_modified_date"] > before["password_modified_date"]


def test_an_old_record_is_reported_as_lldap_reports_it() -> None:
    lldap = new_lldap()
    lldap.upgrade()
    proof = client().begin_proof(b"any", KeptKey())
    body = {"username": "ADMIN", "login_start_request": encoded(proof.request)}
    answer = post(lldap, "/auth/opaque/login/start", body)
    assert answer.status == 409
    assert json.loads(answer.body) == {"error_code": "opaque_v07_version"}


def test_a_password_is_set_behind_the_operators_back() -> None:
    lldap = new_lldap()
    admin = log_in(lldap)
    admin.create_user("alice")
    before = admin.attributes("alice")["password_modified_date"]
    lldap.set_password("alice", "their own")
    assert simple_login(lldap, "alice", "their own").status == 200
    assert admin.attributes("alice")["password_modified_date"] > before


def test_sealed_data_of_another_server_is_refused() -> None:
    lldap, other = new_lldap(), new_lldap()
    other.reinstall()
    admin = log_in(other)
    assert admin.register("admin", "password") == (200, 200)
    registration = client().begin_registration(b"password", KeptKey())
    start = {"username": "admin", "registration_start_request": encoded(registration.request)}
    answer = post(other, "/auth/opaque/register/start", start, admin.headers)
    started = json.loads(answer.body)
    upload = registration.finish(base64.b64decode(started["registration_response"]))
    for server_data, status in ((started["server_data"], 500), ("***", 400)):
        body = {"server_data": server_data, "registration_upload": encoded(upload)}
        assert post(lldap, "/auth/opaque/register/finish", body).status == status
    assert simple_login(lldap, "admin", ADMIN_PASSWORD).status == 200
