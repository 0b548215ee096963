"""Processes of a cluster end with their owners, and say how they ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from saccade_worker.cluster import guard
from saccade_worker.cluster.files import Log, started_at, targets, write_json
from saccade_worker.cluster.process import Process

# Says its number, and does not listen to SIGTERM if told so.
SCRIPT = """
import os, signal, sys, time
if sys.argv[1] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("on", os.getpid(), flush=True)
time.sleep(60)
"""


def _run(process: Process, *command: str, grace: float = 0.5) -> int | None:
    return process.start([*command], {"MINE": "yes"}, grace)


def _await_end(process: Process) -> dict:
    lines: list[str] = []
    until = time.monotonic() + 30
    while time.monotonic() < until:
        told = process.poll()
        lines += told["lines"]
        if told["code"] is not None:
            return {**told, "lines": lines}
        time.sleep(0.02)
    raise AssertionError(f"It has not ended: {lines}")


def _is_living(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _await_gone(pid: int) -> bool:
    until = time.monotonic() + 20
    while _is_living(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not _is_living(pid)


@pytest.mark.short
@pytest.mark.parametrize("code", [0, 7])
def test_a_process_gives_its_output_and_its_exit_code(code: int):
    process = Process()
    script = f"import os, sys; print(os.environ['MINE'], *sys.argv[1:]); sys.exit({code})"
    pid = _run(process, "{python}", "-c", script, "a b")
    told = _await_end(process)
    assert (told["code"], told["lines"], told["pid"]) == (code, ["yes a b"], pid)


@pytest.mark.short
def test_a_process_that_is_killed_says_by_which_signal():
    process = Process()
    pid = _run(process, "{python}", "-c", SCRIPT, "polite")
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert _await_end(process)["code"] == 128 + signal.SIGKILL


@pytest.mark.short
def test_a_command_that_cannot_be_run_says_so():
    process = Process()
    assert _run(process, "/nowhere/program") is None
    told = _await_end(process)
    assert told["code"] == 127
    assert told["lines"] == ["/nowhere/program cannot be run: No such file or directory."]


@pytest.mark.short
@pytest.mark.parametrize("kind", ["polite", "deaf"])
def test_a_process_is_stopped_even_if_it_does_not_listen(kind: str):
    process = Process()
    pid = _run(process, "{python}", "-c", SCRIPT, kind)
    assert pid is not None
    while not process.poll()["lines"]:
        time.sleep(0.02)
    process.stop(2.0)
    assert not _is_living(pid)


@pytest.mark.short
@pytest.mark.parametrize("kind", ["polite", "deaf"])
def test_a_command_ends_when_its_owner_is_killed(kind: str):
    # The owner starts a guard as an actor does, and is killed without a chance to tidy up.
    owner = subprocess.Popen(
        [
            *(sys.executable, "-c"),
            "import os, subprocess, sys; r, w = os.pipe(); "
            "subprocess.Popen([sys.executable, sys.argv[1], '0.3', str(w), '--', sys.executable, "
            "'-c', sys.argv[2], sys.argv[3]], stdin=subprocess.PIPE, pass_fds=(w,), "
            "start_new_session=True).wait()",
            *(guard.__file__, SCRIPT, kind),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    pid = int(owner.stdout.readline().split()[1])
    owner.kill()
    owner.wait()
    assert _await_gone(pid)


@pytest.mark.short
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_a_command_ends_when_its_guard_is_killed():
    process = Process()
    pid = _run(process, "{python}", "-c", SCRIPT, "polite")
    assert pid is not None and process._child is not None
    while not process.poll()["lines"]:
        time.sleep(0.02)
    process._child.kill()
    assert _await_gone(pid)
    assert _await_end(process)["code"] == -signal.SIGKILL


@pytest.mark.short
def test_output_that_comes_too_fast_is_dropped_and_counted():
    process = Process()
    _run(process, "{python}", "-c", "for i in range(90_000): print(i, 'x' * 90)")
    # Nobody asks until it has ended.
    process._child.wait()
    process._reader.join()
    told = _await_end(process)
    dropped = int(told["lines"][0].split()[1])
    assert dropped + len(told["lines"]) - 1 == 90_000
    assert told["lines"][-1].startswith("89999 ")


@pytest.mark.short
def test_files_are_whole_private_and_in_the_order_of_events(tmp_path):
    path = str(tmp_path / "state.json")
    write_json(path, {"a": 1})
    assert os.stat(path).st_mode & 0o077 == 0
    log = Log(str(tmp_path / "logs" / "worker.log"))
    log.write(["first", "", "  "])
    log.note("restarted")
    assert log.last == "first"
    with open(log.path) as file:
        assert [line.split(" ", 1)[1] for line in file][::3] == ["first\n", "[cluster] restarted\n"]
    assert started_at(os.getpid()) == started_at(os.getpid())
    assert started_at(2**30) is None
    part = {"name": "engine-0", "group": "engines", "metrics": "/metrics", "url": "http://h:1"}
    assert targets("c", [part, {**part, "url": None}])[0]["targets"] == ["h:1"]
