"""`python -m tests.tools envtest` and `python -m tests.tools debian`."""

import argparse
import sys

from tests.tools import debian, gomodules
from tests.tools.failure import ToolError


def main() -> int:
    """Do what is asked: 0 when it is done, 1 with the reason when it cannot be done here."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools", description=__doc__)
    parser.add_argument("what", choices=["envtest", "debian"])
    what = parser.parse_args().what
    try:
        if what == "envtest":
            sys.stdout.write(f"export KUBEBUILDER_ASSETS={gomodules.envtest(_say)}\n")
        else:
            debian.unpack(_say)
    except ToolError as error:
        _say(str(error))
        return 1
    return 0


def _say(text: str) -> None:
    sys.stderr.write(f"tools: {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
