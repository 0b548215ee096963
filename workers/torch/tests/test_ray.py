"""Ray actors compute what one process does, and end when one of them is lost."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

from .client import ROOT, Client
from .served import Served
from .test_group import groups_for, train
from .trees import assert_same_gradients

pytestmark = pytest.mark.slow
pytest.importorskip("ray", reason="pip install ray to test the Ray launcher")


def test_two_actors_learn_what_one_process_does_and_end_together(tiny, tmp_path):
    log = tempfile.NamedTemporaryFile(mode="w+", suffix=".log")
    launcher = subprocess.Popen(
        [
            *(sys.executable, os.path.join(ROOT, "examples", "ray_worker.py"), "--ranks", "2"),
            *("--", "--model", tiny("qwen2_5_vl"), "--port", "0", "--device", "cpu"),
            *("--threads", "1", "--checkpoints", str(tmp_path / "ray"), "--expose-gradients"),
        ],
        stdout=log,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": ROOT, "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"},
        start_new_session=True,
    )
    one = Served(tiny("qwen2_5_vl"), str(tmp_path / "one"))
    try:
        url = None
        end = time.monotonic() + 200
        while url is None and time.monotonic() < end and launcher.poll() is None:
            time.sleep(0.5)
            with open(log.name) as file:
                found = re.search(r"at (http://\S+/api/v1)", file.read())
            url = found.group(1) if found else None
        assert url is not None, open(log.name).read()[-4000:]
        made = []
        for client in (one.client(), Client(url)):
            client.create({"rank": 4, "seed": 7})
            forest, count = groups_for(client, tiny, "qwen2_5_vl", [[1, 2], []])
            made.append(train(client, forest, count))
        worst = assert_same_gradients(made[1]["gradients"], made[0]["gradients"])
        logprobs = [each["last"]["logprobs"] for each in made]
        np.testing.assert_allclose(logprobs[1], logprobs[0], atol=2e-5)
        print(f"Ray: {worst:.1e} {np.abs(logprobs[1] - logprobs[0]).max():.1e}")
        out = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout
        ranks = [line.split()[0] for line in out.splitlines() if "ray::Rank.serve" in line]
        mine = [int(pid) for pid in ranks if _belongs(int(pid), launcher.pid)]
        assert len(mine) == 2
        os.kill(mine[1], signal.SIGKILL)
        start = time.monotonic()
        assert launcher.wait(timeout=90) == 1
        print(f"Ray: an actor killed, launcher ended after {time.monotonic() - start:.1f} s")
    finally:
        one.stop()
        if launcher.poll() is None:
            launcher.terminate()
            launcher.wait(timeout=60)


def _belongs(pid: int, ancestor: int) -> bool:
    """Whether a process descends from another."""
    while pid > 1:
        if pid == ancestor:
            return True
        with open(f"/proc/{pid}/stat") as file:
            pid = int(file.read().rsplit(")", 1)[1].split()[1])
    return False
