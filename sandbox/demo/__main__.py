"""`python -m sandbox.demo`; KEEP=1 in the environment leaves all running until Ctrl-C."""

import os
import signal
import sys

from sandbox.demo.demo import Demo
from sandbox.demo.failure import DemoError
from sandbox.demo.progress import Progress

INTERRUPTED = 130


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """Run the demo: 0 when it went well, 1 with the reason when it did not."""
    signal.signal(signal.SIGTERM, _interrupt)
    progress = Progress(sys.stdout)
    try:
        with Demo(progress) as demo:
            demo.run()
            if os.environ.get("KEEP", "0") not in {"", "0"}:
                demo.keep()
    except KeyboardInterrupt:
        progress.say("interrupted: everything is stopped and removed")
        return INTERRUPTED
    except DemoError as error:
        progress.fail(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
