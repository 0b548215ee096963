"""Files of a cluster: its state, its logs, and the targets of its metrics."""

from __future__ import annotations

import json
import os
import time
from typing import Any

# A log that is larger is kept once, as `<name>.log.1`, and begun anew.
MOST_LOG_BYTES = 64 << 20


def write_json(path: str, value: Any) -> None:
    """Writes a file that appears whole or not at all, for the owner's eyes."""
    draft = f"{path}.{os.getpid()}.draft"
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(value, file, indent=2)
        file.write("\n")
    os.replace(draft, path)


class Log:
    """Lines of a part, with their times."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.last = ""
        os.makedirs(os.path.dirname(path), exist_ok=True)

    def note(self, line: str) -> None:
        """Appends a line of the supervisor's own; it is not what the part said last."""
        said = self.last
        self.write([f"[cluster] {line}"])
        self.last = said

    def write(self, lines: list[str]) -> None:
        """Appends lines."""
        if not lines:
            return
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S")
        with open(self.path, "a", encoding="utf-8") as file:
            file.writelines(f"{stamp} {line}\n" for line in lines)
            size = file.tell()
        said = [line for line in lines if line.strip()]
        self.last = said[-1] if said else self.last
        if size > MOST_LOG_BYTES:
            os.replace(self.path, f"{self.path}.1")


def started_at(pid: int) -> str | None:
    """When a process was started, by its system's clock: with its number, what it is for sure."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return None


def targets(name: str, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parts as Prometheus' `file_sd_configs` takes them."""
    return [
        {
            "targets": [part["url"].split("://", 1)[1]],
            "labels": {
                "__metrics_path__": part["metrics"],
                "cluster": name,
                "part": part["name"],
                "group": part["group"],
            },
        }
        for part in parts
        if part["url"] is not None
    ]
