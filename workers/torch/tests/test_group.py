"""Two processes compute what one does, and a lost one ends the group."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from .client import ROOT, Process, RefusalError, body_of, ranks_of
from .local import Local, png
from .served import Served
from .tiny import WITH_IMAGES, write_float64
from .trees import assert_same_gradients, forest_of_groups, group_of

pytestmark = pytest.mark.slow

# Gradients that are 0 but for rounding must stay small steps: an eps of 1e-8 makes whole ones of
# them, of any sign, and the third step's norm then differs by 1e-4.
STEP = {"learning_rate": 1e-2, "beta2": 0.95, "eps": 1e-5, "weight_decay": 0.1}


def train(client: Any, forest: Any, count: int) -> dict[str, Any]:
    """Three steps of a loss with entropy; everything they gave."""
    asked = {"forest": body_of(forest)}
    slopes = np.linspace(-1, 1, count).astype(np.float32)
    found: dict[str, Any] = {"scores": [], "norms": []}
    for number in range(3):
        request_id = client.submit("forward", {"forward_input": asked})
        found["scores"].append(client.result(request_id))
        # Looks in between must not matter.
        client.order("forward", {"forward_input": asked, "temperature": 0.7})
        grads = {"grad_logprobs": slopes, "grad_entropy": 0.1 * slopes[::-1].copy()}
        client.order("backward", {"data_ref": request_id, **grads})
        if number == 0:
            found["gradients"] = client.order("gradients")["gradients"]
        made = client.order("optim_step", {"adam_params": {**STEP, "grad_clip_norm": 2.0}})
        found["norms"].append(made["grad_norm"])
    found["last"] = client.order("forward", {"forward_input": asked})
    return found


def groups_for(client: Any, tiny: Any, kind: str, seeds: list[list[int]]) -> Any:
    """A forest of groups; one of them without images, so that a rank may have none."""
    model = Local(tiny(kind))
    groups = [group_of(model, one) for one in seeds]
    if kind in WITH_IMAGES:
        for seed in {seed for one in seeds for seed in one}:
            client.put(png(seed, 24 + 8 * (seed % 3), 16 + 8 * (seed % 2)))
    forest = forest_of_groups(groups)
    return forest, len(forest.rows)


def differences(one: Any, two: Any, tiny: Any, kind: str) -> Iterator[tuple[str, dict, dict]]:
    """Trainings of several forests by both workers, fully and with an adapter."""
    for lora in (None, {"rank": 4, "seed": 7}):
        for seeds in ([[1, 2], [], [3]], [[4]], [[], []]):
            found = []
            for server in (one, two):
                client = server.client()
                client.create(lora)
                forest, count = groups_for(client, tiny, kind, seeds)
                found.append(train(client, forest, count))
                client.unload()
            moved = found[0]["last"]["logprobs"] - found[0]["scores"][0]["logprobs"]
            assert np.abs(moved).max() > 1e-2
            yield f"{kind} lora={lora is not None} {seeds}", found[0], found[1]


FAMILIES = ["qwen2_5_vl", "qwen3_vl", "internvl", "idefics3"]
TWO = ("--recompute", "--row-tokens", "64")


@pytest.mark.parametrize("kind", FAMILIES)
def test_two_processes_learn_what_one_does(tiny, tmp_path, kind):
    one = Served(tiny(kind), str(tmp_path))
    two = Process(tiny(kind), *TWO, ranks=2)
    try:
        for what, single, double in differences(one, two, tiny, kind):
            worst = assert_same_gradients(double["gradients"], single["gradients"])
            np.testing.assert_allclose(double["norms"][0], single["norms"][0], rtol=1e-5)
            # Steps enlarge the rounding of sums in another order; the next test has hardly any.
            np.testing.assert_allclose(double["norms"], single["norms"], rtol=1e-4)
            far = double["last"]["logprobs"] - single["last"]["logprobs"]
            np.testing.assert_allclose(far, 0, atol=1e-4)
            print(f"{what}: {worst:.1e} {np.abs(far).max():.1e}")
    except BaseException:
        print(two.text()[-4000:])
        raise
    finally:
        one.stop()
        two.kill()


@pytest.mark.parametrize("kind", FAMILIES)
def test_in_float64_two_processes_learn_exactly_what_one_does(tiny, tmp_path, kind):
    wide = write_float64(tiny(kind), str(tmp_path / "wide"))
    one = Process(wide, module="tests.in_float64")
    two = Process(wide, *TWO, ranks=2, module="tests.in_float64")
    try:
        for what, single, double in differences(one, two, tiny, kind):
            worst = assert_same_gradients(double["gradients"], single["gradients"], 1e-11)
            np.testing.assert_allclose(double["norms"], single["norms"], rtol=1e-11)
            # Log-probs are sent as float32: half a unit there.
            far = double["last"]["logprobs"] - single["last"]["logprobs"]
            np.testing.assert_allclose(far, 0, atol=1e-6)
            print(f"{what}: {worst:.1e} {np.abs(far).max():.1e}")
    except BaseException:
        print(two.text()[-4000:])
        raise
    finally:
        one.kill()
        two.kill()


@pytest.fixture(scope="module")
def pair(tiny):
    process = Process(tiny("qwen2_5_vl"), "--timeout-seconds", "60", ranks=2)
    yield process
    process.kill()


def test_a_refusal_reaches_no_collective_and_both_ranks_live_on(pair, tiny):
    client = pair.client()
    client.create({"rank": 2})
    model = Local(tiny("qwen2_5_vl"))
    group = group_of(model, [1])
    sha256, count = group.images[0]
    asked = {"forward_input": {"forest": body_of(group.forest())}}
    for status, code in ((409, "missing-blobs"), (400, "expected-tokens")):
        with pytest.raises(RefusalError) as refused:
            client.submit("forward", asked)
        assert (refused.value.status, refused.value.body["code"]) == (status, code)
        client.put(png(1, 32, 24))
        asked["forward_input"]["forest"]["segments"][0]["images"] = [
            {"sha256": sha256, "expected_tokens": count + 1}
        ]
    asked["forward_input"]["forest"] = body_of(group.forest())
    assert client.order("forward", asked)["logprobs"].shape == (12,)
    with pytest.raises(RefusalError, match="no-gradient"):
        client.order("optim_step")
    with pytest.raises(RefusalError, match=r"adapter_model"):
        client.order("load_weights", {"path": "nowhere"})
    assert client.order("forward", asked)["logprobs"].shape == (12,)
    client.unload()


def test_ranks_share_a_checkpoint(pair):
    client = pair.client()
    client.create(value_head=True)
    data = {
        "model_input": {"chunks": [{"type": "encoded_text", "tokens": [3, 4, 5, 6]}]},
        "loss_fn_inputs": {"target_tokens": [4, 5, 6, 7], "weights": [1, 1, 1, 1]},
    }
    learn = {"forward_backward_input": {"data": [data]}}
    client.order("forward_backward", learn)
    client.order("optim_step", {"adam_params": STEP})
    saved = client.order("save_weights", {"path": "x", "optimizer": True})
    before = client.order("checksum")
    scores = client.order("forward", {"forward_input": {"data": [data]}})
    client.order("forward_backward", learn)
    client.order("optim_step", {"adam_params": STEP})
    after = client.order("checksum")
    assert after["checksum"] != before["checksum"]
    made = client.order("load_weights", {"path": saved["path"], "optimizer": True})
    assert made["version"] == 1
    assert made["sha256"] == saved["sha256"]
    assert client.order("checksum") == before
    again = client.order("forward", {"forward_input": {"data": [data]}})
    np.testing.assert_array_equal(
        again["loss_fn_outputs"][0]["logprobs"], scores["loss_fn_outputs"][0]["logprobs"]
    )
    client.order("forward_backward", learn)
    client.order("optim_step", {"adam_params": STEP})
    assert client.order("checksum") == after
    client.unload()


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("is_busy", [False, True])
def test_a_killed_rank_ends_the_group_with_an_error(tiny, rank, is_busy):
    process = Process(tiny("qwen2"), ranks=2)
    try:
        client = process.client()
        client.create()
        if is_busy:
            prompt = {"chunks": [{"type": "encoded_text", "tokens": [3]}]}
            params = {"max_tokens": 400, "stop": []}
            asked = {"prompt": prompt, "sampling_params": params, "num_samples": 4}
            client.post("asample", asked)
            time.sleep(1)
        os.kill(ranks_of(process.process)[rank], signal.SIGKILL)
        start = time.monotonic()
        code = process.process.wait(timeout=90)
        print(
            f"rank {rank} killed, busy={is_busy}: code {code} after "
            f"{time.monotonic() - start:.1f} s"
        )
        assert code != 0
        with pytest.raises(OSError):
            client.get("healthz")
    finally:
        process.kill()


def test_ranks_do_not_outlive_their_launcher(tiny):
    process = Process(tiny("qwen2"), ranks=2)
    ranks = ranks_of(process.process)
    assert len(ranks) == 2
    process.process.kill()
    process.process.wait(timeout=30)
    start = time.monotonic()
    while any(os.path.exists(f"/proc/{rank}") for rank in ranks):
        assert time.monotonic() - start < 60, process.text()[-2000:]
        time.sleep(0.2)
    print(f"launcher killed: ranks ended after {time.monotonic() - start:.1f} s")


def test_ranks_without_a_launcher_notice_a_lost_one(tiny, tmp_path):
    """As under Ray or SLURM, where nobody else kills the group."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "saccade_worker", "--model", tiny("qwen2")),
                *("--port", "0", "--device", "cpu", "--checkpoints", str(tmp_path)),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE if rank == 0 else None,
            env={
                **os.environ,
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": "2",
                "LOCAL_WORLD_SIZE": "2",
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
                "OMP_NUM_THREADS": "1",
                "PYTHONPATH": ROOT,
            },
        )
        for rank in range(2)
    ]
    try:
        assert b"on 2" in processes[0].stdout.readline()
        processes[1].kill()
        start = time.monotonic()
        code = processes[0].wait(timeout=60)
        print(
            f"rank 1 killed without a launcher: code {code} after {time.monotonic() - start:.1f} s"
        )
        assert code == 70
    finally:
        for one in processes:
            one.kill()


def test_a_signal_ends_a_worker_after_what_is_queued(tiny):
    process = Process(tiny("qwen2"))
    client = process.client()
    client.create()
    data = {
        "model_input": {"chunks": [{"type": "encoded_text", "tokens": [3, 4]}]},
        "loss_fn_inputs": {"target_tokens": [4, 5], "weights": [1, 1]},
    }
    asked = {"forward_backward_input": {"data": [data]}}
    ids = [client.submit("forward_backward", asked) for _ in range(5)]
    process.process.terminate()
    assert client.result(ids[-1])["version"] == 0
    assert process.process.wait(timeout=60) == 0


def test_a_model_that_cannot_be_served_is_refused_with_what_is_missing(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "llava", "vision_config": {}}')
    made = subprocess.run(
        [sys.executable, "-m", "saccade_worker", "--model", str(tmp_path), "--port", "0"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    assert made.returncode == 2
    assert "nothing here says where their images stand" in made.stderr
