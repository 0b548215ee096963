"""Bodies, numbers and stores: what is damaged is refused, what is bounded stays so."""

from __future__ import annotations

import hashlib
import json
import math
import random

import numpy as np
import pytest

from saccade_worker import bodies
from saccade_worker.blobs import Blobs
from saccade_worker.errors import Capacity, Conflict, Gone, TooLarge, UserError, WorkerError
from saccade_worker.futures import Futures
from saccade_worker.planning import plan_rows
from saccade_worker.sampling import draw, truncated
from saccade_worker.sequences import Sequence
from saccade_worker.wire import BINARY, decode, encode


@pytest.mark.parametrize("binary", [False, True])
def test_a_body_comes_back(binary):
    value = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b": [np.array([1, -2], dtype=np.int32), {"c": None, "d": "ä"}],
        "e": np.zeros(0, dtype=np.int64),
    }
    raw, kind = encode(value, binary)
    back = decode(kind, raw)
    if binary:
        np.testing.assert_array_equal(back["a"], value["a"])
        assert back["b"][0].dtype == np.int32
    else:
        assert back["a"] == {"data": [0, 1, 2, 3, 4, 5], "dtype": "float32", "shape": [2, 3]}
    assert back["b"][1] == {"c": None, "d": "ä"}


def test_numbers_that_are_not_finite_are_null_in_json_and_exact_in_binary():
    value = {"a": np.array([np.nan, np.inf, 1], dtype=np.float32), "b": math.inf}
    assert json.loads(encode(value, False)[0])["a"]["data"] == [None, None, 1]
    np.testing.assert_array_equal(decode(BINARY, encode(value, True)[0])["a"], value["a"])


def test_damaged_bodies_are_refused():
    raw, _ = encode({"a": np.arange(50, dtype=np.float32), "b": 1}, True)
    source = random.Random(5)
    for _ in range(300):
        broken = bytearray(raw)
        for _ in range(source.randint(1, 4)):
            broken[source.randrange(len(broken))] = source.randrange(256)
        cut = bytes(broken[: source.randint(0, len(broken))])
        for one in (bytes(broken), cut):
            try:
                assert isinstance(decode(BINARY, one), dict)
            except UserError:
                pass
    for body in (b"[1]", b"{", b"\xff", b'"a"', b"null"):
        with pytest.raises(UserError):
            decode("application/json", body)


def test_a_wrong_field_is_named():
    with pytest.raises(UserError) as refused:
        bodies.read(bodies.OptimStep, {"model_id": "m", "adam_params": {"beta1": 1.5}})
    assert refused.value.field == "adam_params.beta1"
    with pytest.raises(UserError) as refused:
        bodies.read(
            bodies.Backward,
            {"model_id": "m", "data_ref": "f", "grad_logprobs": {"data": ["x"], "dtype": "f"}},
        )
    assert refused.value.field == "grad_logprobs"


def test_numbers_of_requests_are_taken_once():
    sequence = Sequence()
    with pytest.raises(Conflict) as gap:
        sequence.replay(5, "a")
    assert gap.value.code == "sequence-gap"
    assert sequence.replay(1, "a") is None
    sequence.take(1, "a", "r1")
    assert sequence.replay(1, "a") == "r1"
    with pytest.raises(Conflict) as conflict:
        sequence.replay(1, "b")
    assert conflict.value.code == "sequence-conflict"
    with pytest.raises(Conflict) as gap:
        sequence.replay(3, "c")
    assert gap.value.facts == {"expected": 2}
    with pytest.raises(Conflict):
        sequence.replay(0, "z")
    for number in range(2, 5000):
        assert sequence.replay(number, str(number)) is None
        sequence.take(number, str(number), f"r{number}")
    with pytest.raises(Gone):
        sequence.replay(1, "a")
    assert sequence.replay(4999, "4999") == "r4999"


def test_results_are_kept_in_bounds_and_until_read():
    futures = Futures(keep_count=4, most_bytes=1 << 20)
    first = [futures.open() for _ in range(10)]
    for one in first:
        futures.finish(one, {"a": 1})
    # Unread ones outlive their number.
    assert all(futures.get(one.request_id).answer() == {"a": 1} for one in first)
    futures.finish(futures.open(), {})
    with pytest.raises(Gone):
        futures.get(first[0].request_id)
    large = [futures.open() for _ in range(3)]
    for one in large:
        futures.finish(one, {"a": np.zeros(1 << 17)})
    with pytest.raises(Gone):
        futures.get(large[0].request_id)
    assert futures.get(large[2].request_id).answer()["a"].shape == (1 << 17,)
    with pytest.raises(Gone):
        futures.get("nobody")


def test_a_failed_future_tells_category_and_code():
    futures = Futures()
    one = futures.open()
    futures.finish(one, error=Conflict("stale", code="stale-version", version=3))
    answer = futures.get(one.request_id).answer()
    assert answer["type"] == "request_failed"
    assert (answer["category"], answer["code"], answer["version"]) == ("user", "stale-version", 3)
    other = futures.open()
    futures.finish(other, error=RuntimeError("boom"))
    assert futures.get(other.request_id).answer()["category"] == "server"


def test_blobs_in_use_stay_and_others_leave():
    def put(blobs: Blobs, text: bytes) -> str:
        sha256 = hashlib.sha256(text).hexdigest()
        blobs.put(sha256, "image/png", text)
        return sha256

    blobs = Blobs(100)
    one, two = put(blobs, b"1" * 40), put(blobs, b"2" * 40)
    blobs.pin([one])
    three = put(blobs, b"3" * 40)
    assert blobs.missing([one, two, three]) == [two]
    blobs.pin([three])
    with pytest.raises(Capacity):
        put(blobs, b"4" * 40)
    blobs.unpin([one])
    put(blobs, b"4" * 40)
    assert blobs.missing([one]) == [one]
    with pytest.raises(Conflict) as missing:
        blobs.pin([one, three])
    assert missing.value.facts == {"missing": [one]}
    with pytest.raises(TooLarge):
        put(blobs, b"5" * 101)
    with pytest.raises(UserError, match="hash"):
        blobs.put("0" * 64, "image/png", b"x")


def test_a_plan_places_each_tree_once_and_equally_often():
    source = random.Random(7)
    for _ in range(200):
        counts = [source.randint(1, 60) for _ in range(source.randint(0, 12))]
        ranks, most = source.randint(1, 5), source.randint(1, 80)
        plan = plan_rows(counts, ranks, most)
        assert len({len(rows) for rows in plan.rows}) == 1
        placed = [tree for rows in plan.rows for row in rows for tree in row]
        assert sorted(placed) == list(range(len(counts)))
        for rows in plan.rows:
            for row in rows:
                held = sum(counts[tree] for tree in row)
                assert held <= max(most, max(counts, default=0))


def test_what_is_drawn_follows_the_distribution():
    logits = np.array([1.0, 0.5, 0.0, -1.0, 2.0])
    known = truncated(logits, 0.7, 4, 0.9)
    exact = np.exp(logits / 0.7)
    order = np.argsort(-exact)[:4]
    exact = exact / exact[order].sum()
    mass = np.cumsum(exact[order])
    kept = order[: int((mass < 0.9).sum()) + 1]
    expected = np.zeros(5)
    expected[kept] = exact[kept] / exact[kept].sum()
    np.testing.assert_allclose(np.exp(known), expected, atol=1e-12)
    stream = np.random.default_rng(1)
    drawn = np.bincount([draw(known, 1.0, stream) for _ in range(20000)], minlength=5) / 20000
    np.testing.assert_allclose(drawn, expected, atol=0.015)
    assert draw(truncated(logits, 0, -1, 1.0), 0, stream) == 4


def test_errors_cross_between_ranks_whole():
    import pickle

    error = Conflict("a", field="b", code="c", version=3)
    back = pickle.loads(pickle.dumps(error))
    assert isinstance(back, WorkerError)
    assert back.body() == error.body()
