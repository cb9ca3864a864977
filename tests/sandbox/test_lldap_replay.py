"""The 150 calls that were recorded on a real lldap get the recorded answers.

What may differ, and how it is compared instead:

- dates and uuids: each recorded one stands for one of the sandbox, in the same order of time
  (dates), and uuids are derived from name and creation date on both sides;
- tokens and `server_data`, which the recording replaced: any text;
- OPAQUE messages: the same length. The recorded uploads fit the recorded server's keys only, so
  uploads and proofs are made anew by a real client for the password that the case is about, and
  `password_matches` is compared with that client's verdict;
- the wording of GraphQL's own syntax and validation errors: their number and place;
- what a failed alias leaves undone: lldap had carried out the alias after the failed one once
  (user m3) where the sandbox never does, so the replay carries it out by itself.
"""

import base64
import copy
import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from lldap.opaque import KeptKey, Proof, Registration
from sandbox.lldap.exchange import Response
from tests.sandbox.lldap_session import Json, client, encoded, log_in, new_lldap, post, proves
from tests.support.clock import FakeClock

Recorded = dict[str, Json]
RECORDINGS = Path(__file__).parent.parent / "data" / "lldap"
RECORDED: list[Recorded] = json.loads((RECORDINGS / "lldap-0.6.3-sqlite.json").read_bytes())
BY_ALICE = {
    "createUser as a plain user",
    "users as a plain user",
    "plain user registers for admin: start",
}
NEW_PASSWORDS = {
    "register alice": "first-password-1",
    "register upper case": "second-password",
    "register short password": "short",
    "register broken upload": "never-stored",
}
PROVED_PASSWORDS = {
    "proof right password": "first-password-1",
    "proof wrong password": "another-password",
    "proof unknown user": "first-password-1",
    "proof user with no password": "first-password-1",
}
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-3[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


class Replay:
    """Sends the recorded calls to one sandbox, in order."""

    def __init__(self) -> None:
        self.lldap = new_lldap(FakeClock())
        self.tokens: dict[str, str] = {}
        self.caller = "admin"
        self.registration: Registration | None = None
        self.proof: Proof | None = None
        self.server_data = ""

    def send(self, recorded: Recorded) -> Response:
        request = recorded["request"]
        body = self.body(recorded)
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **self.headers(recorded)}
        method, path = request["method"], request["path"]
        answer = self.lldap.handle(method, path, headers, b"" if body is None else data)
        self.learn(recorded, answer)
        return answer

    def headers(self, recorded: Recorded) -> dict[str, str]:
        case, path = recorded["case"], recorded["request"]["path"]
        if path in {"/auth/refresh", "/auth/logout"}:
            return {"refresh-token": "bad" if "bad" in case else self.tokens["refresh"]}
        if not recorded["request"]["auth"]:
            return {}
        if case == "graphql with a bad token":
            return {"Authorization": "Bearer bad"}
        return {"Authorization": f"Bearer {self.tokens['alice' if case in BY_ALICE else 'admin']}"}

    def body(self, recorded: Recorded) -> Json:
        name, _, step = recorded["case"].partition(": ")
        body = copy.copy(recorded["request"]["body"])
        if name in NEW_PASSWORDS and step == "start":
            password = NEW_PASSWORDS[name].encode()
            self.registration = client().begin_registration(password, KeptKey())
            body["registration_start_request"] = encoded(self.registration.request)
        elif name in NEW_PASSWORDS:
            body["server_data"] = self.server_data
            if self.registration:
                body["registration_upload"] = self.upload
        elif name in PROVED_PASSWORDS:
            self.proof = client().begin_proof(PROVED_PASSWORDS[name].encode(), KeptKey())
            body["login_start_request"] = encoded(self.proof.request)
        return body

    def learn(self, recorded: Recorded, answer: Response) -> None:
        """Keep what later calls need."""
        case = recorded["case"]
        if case in {"login ok", "alice logs in"}:
            found = json.loads(answer.body)
            self.tokens["admin" if case == "login ok" else "alice"] = found["token"]
            self.tokens.setdefault("refresh", found["refreshToken"])
        if case.endswith("start") and case.startswith("register") and answer.status == 200:
            found = json.loads(answer.body)
            self.server_data = found["server_data"]
            assert self.registration
            response = base64.b64decode(found["registration_response"])
            self.upload = encoded(self.registration.finish(response))
            if "broken" in case:
                self.registration = None
        if case == "batch with a failure in the middle":
            query = 'mutation{createUser(user:{id:"m3",email:"m3@example.com"}){id}}'
            headers = {"Authorization": f"Bearer {self.tokens['admin']}"}
            assert post(self.lldap, "/api/graphql", {"query": query}, headers).status == 200

    def verdict(self, answer: Response) -> bool:
        assert self.proof
        return self.proof.check(base64.b64decode(json.loads(answer.body)["credential_response"]))


class Comparison:
    """Compares answers; a volatile value of the recording stands for one of the sandbox."""

    def __init__(self) -> None:
        self.there: dict[str, str] = {}
        self.back: dict[str, str] = {}

    def differences(self, recorded: Recorded, answer: Response) -> Iterator[str]:
        content_type = dict(answer.headers).get("content-type")
        if (answer.status, content_type) != (recorded["status"], recorded["content_type"]):
            yield f"status or type: {answer.status} {content_type}"
        body: Json = answer.body.decode()
        if content_type == "application/json":
            body = json.loads(body)
        wanted = recorded["body"]
        if recorded["status"] == 400 and isinstance(wanted, dict):
            wanted, body = (self.places(each) for each in (wanted, body))
        yield from self.compare("", wanted, body)

    @staticmethod
    def places(body: Json) -> Json:
        return [error["locations"] for error in body["errors"]], sorted(body)

    def compare(self, where: str, wanted: Json, got: Json) -> Iterator[str]:
        if isinstance(wanted, dict) and isinstance(got, dict) and list(wanted) == list(got):
            for key, value in wanted.items():
                yield from self.compare(f"{where}.{key}", value, got[key])
        elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
            for index, value in enumerate(wanted):
                yield from self.compare(f"{where}[{index}]", value, got[index])
        elif wanted != got and not self.stands_for(where, wanted, got):
            yield f"{where}: {wanted!r} recorded, {got!r} now"

    def stands_for(self, where: str, wanted: Json, got: Json) -> bool:
        if not (isinstance(wanted, str) and isinstance(got, str)):
            return False
        if wanted in {"<jwt>", "<refresh>", "<sealed>"}:
            return bool(got)
        if where in {".registration_response", ".credential_response"}:
            return len(wanted) == len(got)
        if not any(p.fullmatch(wanted) and p.fullmatch(got) for p in (DATE, UUID)):
            return False
        return (
            self.there.setdefault(wanted, got) == got
            and self.back.setdefault(got, wanted) == wanted
        )


def answered() -> tuple[list[Response], list[bool]]:
    replay = Replay()
    answers, verdicts = [], []
    for recorded in RECORDED:
        answers.append(replay.send(recorded))
        if "password_matches" in recorded:
            verdicts.append(replay.verdict(answers[-1]))
    return answers, verdicts


def test_all_recorded_calls_get_the_recorded_answers() -> None:
    answers, verdicts = answered()
    comparison = Comparison()
    found = {
        f"{number} {recorded['case']}": differences
        for number, (recorded, answer) in enumerate(zip(RECORDED, answers, strict=True))
        if (differences := list(comparison.differences(recorded, answer)))
    }
    assert not found
    assert len(answers) == 150
    assert verdicts == [r["password_matches"] for r in RECORDED if "password_matches" in r]
    dates = {old: new for old, new in comparison.there.items() if old.endswith("+00:00")}
    assert len(dates) > 15
    assert sorted(dates.values()) == [dates[old] for old in sorted(dates)]


@pytest.mark.parametrize(
    ("case", "old", "new"),
    [
        ("createUser ok", b'"alice"', b'"Alice"'),
        ("createUser again", b"lowercase_email", b"email"),
        ("built-in groups", b'"id":1', b'"id":4'),
        ("all users", b'"value":[""]', b'"value":[]'),
        ("graphql syntax error", b'"column":8', b'"column":9'),
        ("user alice by upper case", b'"name":"mail"', b'"name":"mall"'),
        ("register alice: start", b'=="', b'"'),
    ],
)
def test_the_comparison_sees_a_difference(case: str, old: bytes, new: bytes) -> None:
    answers, _ = answered()
    comparison = Comparison()
    for recorded, answer in zip(RECORDED, answers, strict=True):
        changed = answer._replace(body=answer.body.replace(old, new, 1))
        if recorded["case"] == case:
            assert changed != answer
            assert list(comparison.differences(recorded, changed))
            return
        assert not list(comparison.differences(recorded, answer))


def test_uuids_come_from_name_and_creation_date_as_recorded() -> None:
    answers, _ = answered()
    for recorded, answer in zip(RECORDED, answers, strict=True):
        if recorded["case"] in {"createUser ok", "createUser id unicode", "createUser empty id"}:
            for body in (recorded["body"], json.loads(answer.body)):
                user = body["data"]["createUser"]
                date = user["creationDate"].replace("Z", "+00:00")
                assert user["uuid"] == str(uuid.uuid3(uuid.NAMESPACE_X500, user["id"] + date))


def test_a_replay_ends_where_a_person_could_log_in() -> None:
    replay = Replay()
    for recorded in RECORDED[: [r["case"] for r in RECORDED].index("deleteUser ok")]:
        replay.send(recorded)
    assert proves(replay.lldap, "alice", "short") is True
    assert log_in(replay.lldap, "ALICE", "short").token
