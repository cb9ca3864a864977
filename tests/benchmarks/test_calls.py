"""The cost of one call: that every kind of call is made and answered."""

import pytest

from benchmarks import calls


def test_each_kind_of_call_has_its_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(calls, "CALLS", 2)
    monkeypatch.setattr(calls, "ROUNDS", 1)
    calls.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "API server, below 2 KB",
        "API server, in chunks",
        "lldap",
    ]
    assert all(" us, bare " in line for line in lines)
