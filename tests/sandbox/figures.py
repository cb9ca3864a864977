"""`make size` and `make sandbox`: how big the sandbox is, how soon it starts, how much it takes."""

import argparse
import ast
import io
import os
import subprocess
import sys
import time
import tokenize
from collections.abc import Iterator
from pathlib import Path

import orjson
import requests

ROOT = Path(__file__).parents[2]
PRODUCT = ("controller", "informers", "lldap", "workqueue")
GENERATED = {ROOT / "lldap" / "schema.py"}
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
USERS = "/apis/lldap-operator.lukidoescode.com/v1alpha1/namespaces/default/lldapusers"
PEOPLE = 10_000


def code_lines(text: str) -> int:
    """Lines with code on them: no blank ones, comments or docstrings."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines: set[int] = set()
    for token in tokens:
        if token.type not in NO_CODE and token.string:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines.difference(_docstrings(ast.parse(text))))


def _docstrings(module: ast.Module) -> Iterator[int]:
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield from range(first.lineno, (first.end_lineno or first.lineno) + 1)


def size(*packages: str) -> int:
    """Lines of code that people wrote in packages."""
    files = {file for package in packages for file in (ROOT / package).rglob("*.py")}
    return sum(code_lines(file.read_text(encoding="utf-8")) for file in files - GENERATED)


def is_smaller() -> bool:
    """Print both sizes; whether the sandbox is smaller than the product."""
    sandbox, product = size("sandbox"), size(*PRODUCT)
    say(f"sandbox {sandbox:,} lines of code, product {product:,}: {sandbox / product:.0%}")
    return sandbox < product


def show_speed() -> None:
    """Start the command, make and list many users over HTTP, print the times."""
    command = [str(Path(sys.executable).parent / "lldap-operator-sandbox"), "api-server"]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = ""
            while "Ctrl-C ends it." not in said:
                line = process.stdout.readline()
                assert line, "the sandbox did not start"
                said += line
            took, worked = time.monotonic() - began, _processor_seconds(process.pid)
            say(f"the API server starts in {took:.2f} s, {worked:.2f} s of them processor time")
            _fill(next(word for word in said.split() if word.startswith("http://")))
        finally:
            process.terminate()


def _processor_seconds(pid: int) -> float:
    """What a process has used so far: unlike the time on the wall, whatever else runs here."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _fill(url: str) -> None:
    with requests.Session() as session:
        session.trust_env = False
        began = time.monotonic()
        for number in range(PEOPLE):
            answer = session.post(url + USERS, data=orjson.dumps(_user(number)), timeout=30)
            assert answer.status_code == 201, answer.text
        say(f"{PEOPLE:,} users made one by one over HTTP in {time.monotonic() - began:.1f} s")
        began = time.monotonic()
        found = session.get(url + USERS, timeout=60).json()["items"]
        assert len(found) == PEOPLE
        say(f"{len(found):,} users listed in {time.monotonic() - began:.2f} s")


def _user(number: int) -> dict[str, object]:
    name = f"user-{number}"
    spec = {"username": name, "email": f"{name}@example.org", "passwordPolicy": "Ignore"}
    kind = {"apiVersion": "lldap-operator.lukidoescode.com/v1alpha1", "kind": "LldapUser"}
    return {**kind, "metadata": {"name": name}, "spec": spec}


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """0 when the sandbox is smaller than the product, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.sandbox.figures", description=__doc__)
    parser.add_argument("--speed", action="store_true", help="start it and fill it too")
    if parser.parse_args().speed:
        show_speed()
    return 0 if is_smaller() else 1


if __name__ == "__main__":
    sys.exit(main())
