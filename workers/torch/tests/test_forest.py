"""A packed forest is scored as its trajectories are, one row each, and as transformers does."""

from __future__ import annotations

import hashlib
import io

import numpy as np
import pytest
import torch
from PIL import Image

from saccade_worker.base import load_model
from saccade_worker.errors import UserError
from saccade_worker.families.family import Layout, Run
from saccade_worker.forest import tree_mask
from saccade_worker.placement import find_runs, place

from .client import prepared
from .local import forest_of, markup, png
from .tiny import END, FAMILIES, IMAGE, START, VIDEO, WITH_IMAGES
from .trees import assert_same_gradients, group_of


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_forest_scores_as_one_row_per_trajectory(local, kind):
    model = local(kind)
    group = group_of(model, [1, 2])
    packed = model.forward(group.forest(), squares=True)
    alone = [model.forward(one, "alone", squares=True) for one in group.alone()]
    for name in ("logprobs", "entropy", "sum_squared_probs"):
        expected = np.concatenate([one[name] for one in alone])
        np.testing.assert_allclose(packed[name], expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("kind", FAMILIES)
def test_gradients_of_a_forest_are_those_of_its_trajectories(local, kind):
    model = local(kind)
    group = group_of(model, [1])
    grads = {
        "logprobs": np.linspace(-1, 1, 12).astype(np.float32),
        "entropy": np.linspace(1, 2, 12).astype(np.float32),
    }
    model.forward(group.forest())
    model.backward(**grads)
    packed = model.gradients()
    model.clear()
    at = 0
    for number, one in enumerate(group.alone()):
        count = len(group.answers[number])
        model.forward(one, f"alone{number}")
        part = {name: value[at : at + count] for name, value in grads.items()}
        model.backward(f"alone{number}", **part)
        at += count
    alone = model.gradients()
    assert_same_gradients(packed, alone)


@pytest.mark.parametrize("kind", WITH_IMAGES)
def test_a_row_scores_as_the_forward_of_transformers(local, tiny, kind):
    model = local(kind)
    group = group_of(model, [1, 2])
    # transformers refuses placeholders that a model sampled, so there are none here.
    group.answers = [[10, 11, 12, 13]]
    ours = model.forward(group.alone()[0])["logprobs"]
    hf = load_model(model.base, tiny(kind), torch.float32)
    ids = torch.tensor([group.prompt + group.answers[0]])
    given = {}
    made = [model.images.prepare(model.blobs.get(sha256)).values for sha256, _ in group.images]
    if kind.startswith("qwen"):
        grids = [model.images.layout(model.blobs.get(sha)) for sha, _ in group.images]
        grid = [[1, one.grid_height, one.grid_width] for one in grids]
        given = {
            "pixel_values": torch.cat(made),
            "image_grid_thw": torch.tensor(grid),
            "mm_token_type_ids": (ids == IMAGE).int(),
        }
    elif kind == "internvl":
        given = {"pixel_values": torch.cat(made)}
    else:
        given = {"pixel_values": torch.cat(made)[None]}
    with torch.no_grad():
        logits = hf(input_ids=ids, **given).logits[0]
    first = len(group.prompt) - 1
    expected = torch.log_softmax(logits[first:-1], -1)
    expected = expected.gather(1, ids[0, first + 1 :, None])[:, 0].numpy()
    np.testing.assert_allclose(ours, expected, atol=2e-6, rtol=0)


@pytest.mark.parametrize("kind", ["qwen2_5_vl", "qwen3_vl"])
def test_positions_of_a_path_are_those_of_get_rope_index(local, kind):
    model = local(kind)
    group = group_of(model, [1, 2, 5])
    layouts = [model.images.layout(model.blobs.get(sha256)) for sha256, _ in group.images]
    found = find_runs(model.base.family, group.prompt, layouts, "segments.0")
    images = list(zip(layouts, found, strict=True))
    own, after = place(model.base.family, model.learner.hf, len(group.prompt), images, 0)
    more, _ = place(model.base.family, model.learner.hf, 4, [], after)
    ids = torch.tensor([[*group.prompt, 10, 11, 12, 13]])
    grid = torch.tensor([[1, one.grid_height, one.grid_width] for one in layouts])
    expected, _ = model.learner.hf.model.get_rope_index(
        ids, mm_token_type_ids=(ids == IMAGE).int(), image_grid_thw=grid
    )
    assert torch.equal(torch.cat([own, more], dim=1), expected[:, 0])


@pytest.mark.parametrize("kind", ["qwen2_5_vl", "qwen3_vl"])
def test_positions_of_a_video_are_those_of_get_rope_index(local, kind):
    model = local(kind)
    seconds = 2.0 if kind == "qwen2_5_vl" else None
    layout = Layout(4, 6, 3, 18, True, seconds)
    if kind == "qwen2_5_vl":
        tokens = [3, START, *[VIDEO] * 18, END, 5]
    else:
        frame = [6, START, *[VIDEO] * 6, END]
        tokens = [3, *frame, *frame, *frame, 5]
    (runs,) = find_runs(model.base.family, tokens, [layout], "segments.0")
    own, _ = place(model.base.family, model.learner.hf, len(tokens), [(layout, runs)], 0)
    ids = torch.tensor([tokens])
    more = {} if seconds is None else {"second_per_grid_ts": torch.tensor([seconds])}
    expected, _ = model.learner.hf.model.get_rope_index(
        ids,
        mm_token_type_ids=(ids == VIDEO).int() * 2,
        video_grid_thw=torch.tensor([[3, 4, 6]]),
        **more,
    )
    assert torch.equal(own, expected[:, 0])


def test_images_may_follow_one_another_without_a_marker_between(local):
    model = local("qwen2_5_vl")
    layout = Layout(4, 4, 1, 4)
    tokens = [3, START, *[IMAGE] * 8, END, 5]
    runs = find_runs(model.base.family, tokens, [layout, layout], "segments.0")
    assert runs == [[Run(2, 4)], [Run(6, 4)]]
    own, after = place(
        model.base.family, model.learner.hf, 12, [(layout, runs[0]), (layout, runs[1])], 0
    )
    # The second begins where the first sends the text after it.
    assert own[0].tolist() == [0, 1, 2, 2, 2, 2, 4, 4, 4, 4, 6, 7]
    assert own[2].tolist() == [0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7]
    assert after == 8


@pytest.mark.parametrize("kind", WITH_IMAGES)
def test_an_image_changes_what_comes_after_it_and_nothing_before(local, kind):
    model = local(kind)
    one, two = (model.put(png(seed)) for seed in (11, 12))
    scores = []
    for sha256 in (one, two):
        tokens = [3, 4, 5, *markup(model, sha256), 7, 8, 9]
        rows = [0, 1, len(tokens) - 3, len(tokens) - 2]
        targets = [4, 5, 8, 9]
        image = (sha256, model.tokens_of(sha256))
        scores.append(model.forward(forest_of([(tokens, -1, [image])], rows, targets)))
    before, after = (abs(scores[0]["logprobs"] - scores[1]["logprobs"])[i] for i in (0, 2))
    assert before == 0
    assert after > 1e-5


@pytest.mark.parametrize("kind", WITH_IMAGES)
def test_patches_prepared_elsewhere_score_as_the_encoded_image(local, kind):
    model = local(kind)
    encoded = model.put(png(21))
    made = model.images.prepare(model.blobs.get(encoded))
    layout = made.layout
    values = made.values
    if not kind.startswith("qwen"):
        tiles, side, patch = layout.grids, layout.grid_height, 4
        cut = values.reshape(tiles, 3, side, patch, side, patch).permute(0, 2, 4, 1, 3, 5)
        values = cut.reshape(tiles * side * side, -1)
    pixels = model.base.family.accept(values, layout)
    assert torch.equal(pixels.values, made.values)


def test_a_tile_of_zeros_is_an_image_too(local):
    model = local("idefics3")
    raw = prepared(np.zeros((16, 48), np.float32), gridHeight=4, gridWidth=4, grids=1, tokenCount=4)
    sha256 = hashlib.sha256(raw).hexdigest()
    model.blobs.put(sha256, "application/x-safetensors", raw)
    tokens = [3, *markup(model, sha256), 5, 6]
    forest = forest_of([(tokens, -1, [(sha256, 4)])], [len(tokens) - 2], [6])
    assert np.isfinite(model.forward(forest)["logprobs"]).all()


def test_the_mask_shows_a_token_its_ancestors_alone():
    lengths, parents = [2, 1, 2, 3, 1, 2], [-1, 0, 1, 0, -1, 4]
    mask = tree_mask(lengths, parents)[0, 0].numpy()
    owner = np.repeat(np.arange(6), lengths)

    def is_ancestor(a: int, b: int) -> bool:
        while b >= 0 and b != a:
            b = parents[b]
        return a == b

    for q in range(11):
        for k in range(11):
            assert mask[q, k] == (k <= q and is_ancestor(owner[k], owner[q])), (q, k)


def test_a_window_counts_tokens_of_the_path():
    mask = tree_mask([3, 2, 2], [-1, 0, 0], window=3)[0, 0].numpy()
    # The second branch is at depth 3 and 4, as the first is.
    assert mask[5].tolist() == [False, True, True, False, False, True, False]
    assert mask[6].tolist() == [False, False, True, False, False, True, True]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"rows": [99]}, "forest.rows"),
        ({"targets": [400]}, "forest.targets"),
        ({"targets": [1, 2]}, "forest.targets"),
        ({"tokens": [1, 2, 3, 400]}, "forest.tokens"),
        ({"tokens": [1, 2, 3]}, "forest.tokens"),
    ],
)
def test_a_forest_that_is_wrong_is_refused_by_field(local, change, field):
    model = local("qwen2")
    right = forest_of([([1, 2], -1, []), ([3, 4], 0, [])], [1], [3])
    wrong = right.model_copy(update={name: np.array(value) for name, value in change.items()})
    with pytest.raises(UserError) as refused:
        model.reader.forest(wrong, "forest")
    assert refused.value.field == field


def test_segments_out_of_order_are_refused(local):
    model = local("qwen2")
    wrong = forest_of([([1], -1, []), ([2], 0, []), ([3], 0, []), ([4], 1, [])], [0], [1])
    with pytest.raises(UserError, match="pre-order"):
        model.reader.forest(wrong, "forest")


def test_an_image_without_its_placeholders_is_refused(local):
    model = local("qwen2_5_vl")
    sha256 = model.put(png(1, 24, 16))
    tokens = [3, START, *[IMAGE] * 5, END]
    with pytest.raises(UserError, match="no 6 placeholders"):
        model.reader.forest(forest_of([(tokens, -1, [(sha256, 6)])], [0], [3]), "forest")


def test_a_damaged_image_is_refused(local):
    model = local("qwen2_5_vl")
    sha256 = model.put(png(3)[:200])
    with pytest.raises(UserError, match="no PNG or JPEG"):
        model.reader.forest(forest_of([([3, 4], -1, [(sha256, 6)])], [0], [3]), "forest")


def test_a_jpeg_is_read_too(local):
    model = local("qwen2_5_vl")
    file = io.BytesIO()
    Image.new("L", (24, 16), 128).save(file, format="JPEG")
    assert model.tokens_of(model.put(file.getvalue())) == 6
