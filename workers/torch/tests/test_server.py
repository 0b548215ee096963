"""The wire over HTTP: order, replays, refusals, limits; the server lives on after each."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from typing import Any

import numpy as np

from .calls import STEP, TEXT, TOKENS, datum, refused, score
from .client import Client, body_of, prepared
from .local import forest_of, png
from .served import Served
from .tiny import END, IMAGE, START


def test_the_same_bytes_are_the_same_request(client):
    body = {"model_id": client.model_id, "seq_id": 0, "forward_input": {"forest": TEXT}}
    first = client.post("forward", body)["request_id"]
    assert client.post("forward", body)["request_id"] == first
    other = {**body, "temperature": 2.0}
    assert refused(lambda: client.post("forward", other), 409, "sequence-conflict")
    gap = {**body, "seq_id": 2}
    answer = refused(lambda: client.post("forward", gap), 409, "sequence-gap")
    assert answer["expected"] == 1
    assert answer["category"] == "user"
    client.seq_id = 1
    score(client)


def test_a_step_is_taken_once_however_often_it_is_sent(client):
    client.order("forward_backward", {"forward_backward_input": {"data": [datum([1] * 4)]}})
    body = {"model_id": client.model_id, "seq_id": 1, "expected_version": 0, **STEP}
    ids = {client.post("optim_step", body)["request_id"] for _ in range(5)}
    assert len(ids) == 1
    assert client.result(ids.pop())["version"] == 1
    assert client.post("get_info", {"model_id": client.model_id})["version"] == 1


def test_a_stale_step_is_refused_with_the_version(client):
    client.order("forward_backward", {"forward_backward_input": {"data": [datum([1] * 4)]}})
    first = client.submit("optim_step", {"expected_version": 0, **STEP})
    # The version that is asked for counts the step in the queue.
    answer = refused(
        lambda: client.submit("optim_step", {"expected_version": 0, **STEP}), 409, "stale-version"
    )
    assert answer["version"] == 1
    assert client.result(first)["version"] == 1


def test_another_incarnation_is_refused(client, served):
    client.incarnation = "another"
    answer = refused(lambda: client.get("healthz"), 409, "foreign-incarnation")
    assert answer["incarnation"] == served.service.incarnation


def test_unknown_things_are_refused(client):
    refused(lambda: client.result("nothing"), 410)
    refused(lambda: client.post("forwards", {}), 404)
    refused(lambda: client.post("get_info", {"model_id": "nobody"}), 404)
    refused(lambda: client.post("session_heartbeat", {"session_id": "nobody"}), 404)
    refused(
        lambda: client.submit("backward", {"data_ref": "nothing", "grad_logprobs": [1.0]}),
        410,
        "forgotten-forward",
    )
    refused(lambda: client.send("POST", "forward", b"{", "application/json"), 400)
    refused(lambda: client.send("POST", "forward", b"x", "text/plain"), 415)


def test_a_missing_image_is_named_and_the_same_number_sent_again(client):
    raw = png(31)
    sha256 = hashlib.sha256(raw).hexdigest()
    tokens = [3, START, *[IMAGE] * 6, END, 5, 6]
    forest = body_of(forest_of([(tokens, -1, [(sha256, 6)])], [9, 10], [6, 7]))
    asked = {"forward_input": {"forest": forest}}
    answer = refused(lambda: client.submit("forward", asked), 409, "missing-blobs")
    assert answer["missing"] == [sha256]
    assert client.post("blobs/missing", {"sha256": [sha256]})["missing"] == [sha256]
    client.put(raw)
    assert client.post("blobs/missing", {"sha256": [sha256]})["missing"] == []
    assert client.order("forward", asked)["logprobs"].shape == (2,)


def test_a_wrong_count_of_placeholders_is_refused_and_the_server_lives_on(client):
    sha256 = client.put(png(32))
    for count in (5, 7):
        tokens = [3, START, *[IMAGE] * count, END, 5]
        forest = body_of(forest_of([(tokens, -1, [(sha256, count)])], [count + 2], [5]))
        answer = refused(
            lambda forest=forest: client.submit("forward", {"forward_input": {"forest": forest}}),
            400,
            "expected-tokens",
        )
        assert "6 placeholders" in answer["error"]
        assert str(count) in answer["error"]
        assert answer["field"].endswith("images.0.expected_tokens")
    assert score(client).shape == (3,)


def test_an_image_in_a_chunk_scores_as_in_a_forest(client):
    raw = png(33)
    sha256 = client.put(raw)
    tokens = [3, START, *[IMAGE] * 6, END, 5, 6]
    rows = list(range(len(tokens) - 1))
    forest = body_of(forest_of([(tokens, -1, [(sha256, 6)])], rows, tokens[1:]))
    expected = client.order("forward", {"forward_input": {"forest": forest}})["logprobs"]
    text = {"type": "encoded_text"}
    chunks = [
        {**text, "tokens": [3, START]},
        {
            "type": "image",
            "format": "png",
            "data": np.frombuffer(raw, np.uint8),
            "expected_tokens": 6,
        },
        {**text, "tokens": [END, 5, 6]},
    ]
    given = {"target_tokens": [*tokens[1:], -1]}
    data = [{"model_input": {"chunks": chunks}, "loss_fn_inputs": given}]
    made = client.order("forward", {"forward_input": {"data": data}})
    np.testing.assert_array_equal(made["loss_fn_outputs"][0]["logprobs"][:-1], expected)
    chunks[1]["expected_tokens"] = 7
    refused(
        lambda: client.submit("forward", {"forward_input": {"data": data}}),
        400,
        "expected-tokens",
    )


def test_a_prepared_image_is_checked(client):
    patches = np.zeros((4 * 6, 96), dtype=np.float32)
    about = {"gridHeight": 4, "gridWidth": 6, "tokenCount": 6, "width": 24, "height": 16}
    tokens = [3, START, *[IMAGE] * 6, END, 5]

    def send(raw: bytes) -> Any:
        sha256 = client.put(raw, "application/x-safetensors")
        forest = body_of(forest_of([(tokens, -1, [(sha256, 6)])], [9], [5]))
        return client.order("forward", {"forward_input": {"forest": forest}})

    assert send(prepared(patches, **about))["logprobs"].shape == (1,)
    wrong = [
        prepared(patches[:-1], **about),
        prepared(patches[:, :-1], **about),
        prepared(patches, **{**about, "tokenCount": 5}),
        prepared(patches, **{**about, "gridHeight": 3, "gridWidth": 8}),
        prepared(patches, **{k: v for k, v in about.items() if k != "gridHeight"}),
        prepared(np.full_like(patches, np.nan), **about),
        b"nothing",
    ]
    for raw in wrong:
        refused(lambda raw=raw: send(raw), 400)
    assert score(client).shape == (3,)


def test_json_and_binary_give_the_same(client, served):
    plain = served.client(binary=False)
    plain.model_id, plain.seq_id = client.model_id, client.seq_id
    forest = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in TEXT.items()
    }
    one = plain.order("forward", {"forward_input": {"forest": forest}})["logprobs"]
    client.seq_id = plain.seq_id
    np.testing.assert_array_equal(one, score(client))


def test_a_forward_belongs_to_its_weights(client):
    asked = {"forward_input": {"forest": TEXT}}
    request_id = client.submit("forward", asked)
    client.result(request_id)
    back = {"data_ref": request_id, "grad_logprobs": np.ones(3, np.float32)}
    client.order("backward", back)
    client.order("optim_step", STEP)
    refused(lambda: client.submit("backward", back), 410, "forgotten-forward")
    answer = refused(lambda: client.order("optim_step", STEP), 0, "no-gradient")
    assert answer["category"] == "user"


def test_requests_run_in_order_however_they_wait(client):
    ids = []
    for _ in range(3):
        data = {"data": [datum([1, 1, 1, 1])]}
        ids.append(client.submit("forward_backward", {"forward_backward_input": data}))
        ids.append(client.submit("optim_step", STEP))
    versions = [client.result(one)["version"] for one in ids]
    assert versions == [0, 1, 1, 2, 2, 3]


def test_a_deleted_checkpoint_is_gone_and_no_other(client, served):
    kept, gone = (client.order("save_weights", {"path": name})["path"] for name in ("a", "b"))
    model, kind, name = gone.removeprefix("tinker://").split("/")
    path = f"training_runs/{model}/checkpoints/{kind}/{name}"
    assert client.delete(path) == {"type": "delete_checkpoint", "path": gone}
    refused(lambda: client.order("load_weights", {"path": gone}), 0)
    assert client.order("load_weights", {"path": kept})["version"] == 0
    for one in (path, f"training_runs/{model}/checkpoints/weights/..", f"training_runs/{model}"):
        refused(lambda one=one: client.delete(one), 404)
    for one in ("..", "%2e%2e", "a%2fb", model):
        refused(lambda one=one: client.delete(f"training_runs/{one}/checkpoints/published/a"), 404)
    assert os.listdir(os.path.join(served.checkpoints, model, kind)) == ["a"]


def test_a_checkpoint_stays_below_its_directory(client):
    for path in ("../x", "a/b", "..", ""):
        act = "save_weights" if path else "load_weights"
        given = {"path": path or "/etc"}
        refused(lambda act=act, given=given: client.submit(act, given), 400)
    refused(lambda: client.submit("load_weights", {"path": "tinker://../weights/x"}), 400)
    refused(lambda: client.order("load_weights", {"path": "tinker://x/weights/y"}), 0)


def test_samples_are_of_the_weights_they_were_asked_of(client):
    data = {"data": [datum([5, 5, 5, 5])]}
    saved = client.order("save_weights_for_sampler", {"path": "s"})
    prompt = {"chunks": [{"type": "encoded_text", "tokens": TOKENS}]}
    params = {"max_tokens": 4, "seed": 5}
    asked = {"prompt": prompt, "sampling_params": params, "prompt_logprobs": True}

    def sample(**more: Any) -> Any:
        return client.call("asample", {**asked, **more})

    before = score(client)
    session = saved["sampling_session_id"]
    first = sample(sampling_session_id=session)
    np.testing.assert_allclose(first["prompt_logprobs"][1:], before, atol=1e-6)
    for _ in range(3):
        client.order("forward_backward", {"forward_backward_input": data})
        client.order("optim_step", {"adam_params": {"learning_rate": 0.1}})
    moved = score(client)
    assert np.abs(moved - before).max() > 0.1
    # The checkpoint's weights, and then the trained ones again.
    again = sample(sampling_session_id=session)
    assert again["sequences"] == first["sequences"]
    np.testing.assert_array_equal(score(client), moved)
    base = sample(base_model=None)
    np.testing.assert_allclose(base["prompt_logprobs"][1:], before, atol=1e-6)
    # Each sampled token has the log-prob that scoring gives it.
    tokens = [*TOKENS, *first["sequences"][0]["tokens"]]
    client.order("load_weights", {"path": saved["path"]})
    whole = body_of(forest_of([(tokens, -1, [])], list(range(3, len(tokens) - 1)), tokens[4:]))
    scored = client.order("forward", {"forward_input": {"forest": whole}})["logprobs"]
    np.testing.assert_allclose(first["sequences"][0]["logprobs"], scored, atol=1e-5)


def test_samples_follow_images_and_sampled_placeholders(client):
    sha256 = client.put(png(34))
    text = {"type": "encoded_text"}
    chunks = [
        {**text, "tokens": [3, START]},
        {"type": "image_ref", "sha256": sha256, "expected_tokens": 6},
        {**text, "tokens": [END, 5, IMAGE, 7]},
    ]
    asked = {"prompt": {"chunks": chunks}, "sampling_params": {"max_tokens": 5, "seed": 1}}
    made = client.call("asample", {**asked, "num_samples": 3})["sequences"]
    assert len({tuple(one["tokens"]) for one in made}) > 1
    prompt = [3, START, *[IMAGE] * 6, END, 5, IMAGE, 7]
    for one in made:
        tokens = prompt + one["tokens"]
        rows = list(range(len(prompt) - 1, len(tokens) - 1))
        forest = body_of(forest_of([(tokens, -1, [(sha256, 6)])], rows, one["tokens"]))
        scored = client.order("forward", {"forward_input": {"forest": forest}})["logprobs"]
        np.testing.assert_allclose(one["logprobs"], scored, atol=1e-5)


def test_models_have_a_limit(served):
    clients = [served.client() for _ in range(3)]
    for one in clients:
        one.create({"rank": 2})
    answer = refused(lambda: served.client().create(), 429, "models-full")
    assert answer["category"] == "capacity"
    # A controller that was silent for long leaves its place.
    session = clients[0].model_id.split("-")[0]
    served.service.registry.sessions[session] -= 1000
    late = served.client()
    late.create()
    refused(lambda: score(clients[0]), 404)
    for one in (clients[1], clients[2], late):
        one.unload()


def test_a_token_tls_and_limits_guard_a_server(tiny, tmp_path):
    key, cert = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-keyout", key, "-out", cert, "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    server = Served(
        tiny("qwen2"),
        str(tmp_path / "checkpoints"),
        *("--token", "secret", "--tls-cert", cert, "--tls-key", key),
        *("--max-body-bytes", "2000", "--max-tokens", "40"),
    )
    try:
        client = Client(server.url, "secret", cafile=cert)
        assert client.get("healthz")["status"] == "ok"
        refused(lambda: Client(server.url, "wrong", cafile=cert).get("healthz"), 401)
        refused(lambda: Client(server.url, None, cafile=cert).get("healthz"), 401)
        client.create()
        large = body_of(forest_of([([3] * 41, -1, [])], [0], [1]))
        refused(
            lambda: client.submit("forward", {"forward_input": {"forest": large}}),
            413,
            "too-many-tokens",
        )
        refused(lambda: client.put(b"x" * 3000), 413)
        # What was taken is finished while nothing new is.
        request_id = client.submit("forward", {"forward_input": {"forest": TEXT}})
        server.service.is_draining = True
        refused(lambda: client.submit("forward", {"forward_input": {"forest": TEXT}}), 503)
        assert client.result(request_id)["logprobs"].shape == (3,)
    finally:
        server.stop()


def test_a_poll_waits_no_longer_than_it_was_asked(client, served):
    future = served.service.futures.open()
    start = time.monotonic()
    asked = {"request_id": future.request_id, "timeout_seconds": 0.2}
    assert client.post("retrieve_future", asked)["type"] == "try_again"
    assert time.monotonic() - start >= 0.2
    served.service.futures.finish(future, {"type": "done"})
    assert client.result(future.request_id) == {"type": "done"}
