"""The commands within sentences: those of our own exist, and those of kubectl are run in a walk."""

import re

import pytest

from controller.cli import _parser
from tests.support.bed import Bed
from tests.support.docpages import ROOT, blocks, inline_commands, pages

# What a place to fill in is in the walk.
FILLED = {"NAME": "alice-password", "POD": "lldap-operator-0", "DIR": "people"}
# Run as a block of another page, for it ends the operator.
ELSEWHERE = "kubectl -n lldap-operator scale deploy lldap-operator --replicas=0"
FLAGS = re.compile(r" -[no] \S+| --?\S+")
# What a command cannot do without, where a sentence only names it.
NEEDED = {"import-bootstrap": ["bootstrap"], "release": ["--all"]}


def commands(program: str) -> set[str]:
    return {
        command
        for page in pages()
        for command in inline_commands(page)
        if command.startswith(f"{program} ")
    }


def kubectl_commands() -> set[str]:
    """Those that are whole, filled in. One without a noun only names a kind of command."""
    whole = {each for each in commands("kubectl") if len(FLAGS.sub("", each).split()) > 2}
    return {
        re.sub(r"\b[A-Z]{3,}\b", lambda found: FILLED[found[0]], each)
        for each in whole - {ELSEWHERE}
    }


def test_a_command_is_whole_with_verb_and_noun() -> None:
    found = kubectl_commands()
    assert "kubectl -n lldap-operator get lease" in found
    assert not found & {"kubectl get", "kubectl get -o wide", "kubectl apply --server-side"}
    assert ELSEWHERE in commands("kubectl")


BESIDE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def test_targets_are_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):.*##", makefile, flags=re.MULTILINE))
    named = {command.split()[1] for command in commands("make")}
    for page in BESIDE:
        named |= set(re.findall(r"^make ([a-z-]+)", page.read_text(), flags=re.MULTILINE))
    assert len(named) > 8
    assert named <= targets | {"imports"}


def test_the_code_that_contributors_read_works() -> None:
    texts = [block.text for block in blocks(BESIDE[1]) if block.language == "python"]
    assert texts
    for text in texts:
        exec(text, {"Bed": Bed})  # it asserts by itself


@pytest.mark.parametrize("command", sorted(commands("lldap-operator")))
def test_our_own_commands_are_understood(command: str) -> None:
    arguments = [FILLED.get(word, word) for word in command.split()[1:]]
    if len(arguments) == 1:
        arguments += NEEDED.get(arguments[0], [])
    assert _parser().parse_args(arguments).command == arguments[0]


def test_docker_runs_commands_that_the_image_has() -> None:
    inside = [each.partition("0.1.0 ")[2] for each in commands("docker") if " run " in each]
    assert inside == ["--version"]
