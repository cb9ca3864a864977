"""`python -m controller` is `lldap-operator`, and this is where both begin."""

import signal
import sys
from types import FrameType

TOLD = (signal.SIGTERM, signal.SIGINT)


def main() -> int:
    """Run the command line; the exit code.

    Reading the program takes half a second. A signal to end is not lost meanwhile, though the first
    process of a container has no handler by default: nothing has been begun, so `run` ends well.
    """
    runs = sys.argv[1:2] == ["run"]
    before = [signal.signal(number, _ended_well if runs else _ended) for number in TOLD]
    from controller.cli import main as command_line  # noqa: PLC0415 - see above

    if not runs:
        for number, handler in zip(TOLD, before, strict=True):
            signal.signal(number, handler)
    return command_line()


def _ended_well(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def _ended(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
