"""`python -m saccade_worker.cluster`: the supervisor of `saccade cluster up`.

python -m saccade_worker.cluster --check      says as JSON what is installed
python -m saccade_worker.cluster PLAN.json    runs until SIGTERM
"""

from __future__ import annotations

import importlib.util
import json
import platform
import sys

from .. import __version__


def main(arguments: list[str]) -> int:
    """Runs a plan, or says what is here."""
    if arguments == ["--check"]:
        print(json.dumps(_found()))
        return 0
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    from .plan import read_plan
    from .supervisor import Supervisor

    return Supervisor(read_plan(arguments[0])).run()


def _found() -> dict[str, object]:
    """Versions of what a cluster needs; None for what is not installed."""

    def version(name: str) -> str | None:
        if importlib.util.find_spec(name) is None:
            return None
        return str(getattr(__import__(name), "__version__", "unknown"))

    has_torch = importlib.util.find_spec("torch") is not None
    return {
        "python": platform.python_version(),
        "worker": __version__,
        "ray": version("ray"),
        # Looked for, not imported: that takes seconds.
        "torch": "installed" if has_torch else None,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
