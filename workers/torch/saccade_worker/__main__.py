"""The command `python -m saccade_worker`."""

import sys

from .run import run
from .settings import read_settings


def main() -> int:
    """Runs a worker from the command line; the exit code."""
    return run(read_settings())


if __name__ == "__main__":
    sys.exit(main())
