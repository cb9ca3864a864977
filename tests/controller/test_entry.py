"""A signal that comes while the program is still being read."""

import signal
import subprocess
import sys

import pytest

BLOCKED = """
import sys, time

class Slow:
    def find_spec(self, name, *_):
        if name == "controller.cli":
            print("reading", flush=True)
            for _ in range(600):  # a signal right before a sleep does not end that one
                time.sleep(0.1)

sys.meta_path.insert(0, Slow())
from controller.__main__ import main
sys.argv = ["lldap-operator", *sys.argv[1:]]
sys.exit(main())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(("command", "code"), [("run", 0), ("export", 128)])
def test_a_signal_that_comes_while_the_program_is_read_ends_it(
    number: signal.Signals, command: str, code: int
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BLOCKED, command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reading\n"
        process.send_signal(number)
        _, said = process.communicate(timeout=20)
    assert process.returncode == (code + number if code else 0)
    assert said == ""


def test_when_it_is_read_a_command_has_the_signals_that_python_gives_it() -> None:
    code = (
        "import signal, sys; sys.argv = ['lldap-operator', '--version'];\n"
        "from controller.__main__ import TOLD, main\n"
        "before = [signal.getsignal(n) for n in TOLD]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "assert before == [signal.getsignal(n) for n in TOLD]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
