"""Reads what parity/check.mjs wrote with the readers of each format's own ecosystem, and writes the same
formats for Saccade to read. One JSON line for each row goes to standard output: id, texts, size and a
SHA-256 of the RGB pixels of the image."""

import hashlib
import io
import json
import os
import sys

from PIL import Image


def pixels(image):
    image.load()
    rgb = image.convert("RGB")
    return [*rgb.size, hashlib.sha256(rgb.tobytes()).hexdigest()]


def show(row_id, question, answer, image):
    print(json.dumps([row_id, question, answer, *pixels(image)]))


def from_bytes(data):
    return Image.open(io.BytesIO(data))


def read_datasets(kind, folder):
    import datasets

    datasets.disable_progress_bars()
    cache = os.path.join(folder, "..", "hf-cache")
    rows = datasets.load_dataset(folder, split="train", cache_dir=cache)
    for row in rows:
        if kind == "image-folder":
            image = row["image"]
        elif kind == "webdataset":
            fields = row["json"]
            image = row["0.png"]
            row = fields
        elif kind in ("json-lines", "csv"):
            name = row["images"] if isinstance(row["images"], str) else row["images"][0]
            image = Image.open(os.path.join(folder, name))
        else:
            image = row["images"][0]
        show(row["id"], row["question"], row["answer"], image)


def read_pyarrow(folder):
    import pyarrow.parquet as parquet

    for name in sorted(os.listdir(os.path.join(folder, "data"))):
        if not name.startswith("train"):
            continue
        for row in parquet.read_table(os.path.join(folder, "data", name)).to_pylist():
            show(row["id"], row["question"], row["answer"], from_bytes(row["images"][0]["bytes"]))


def read_webdataset(folder):
    import webdataset

    names = sorted(n for n in os.listdir(folder) if n.startswith("train") and n.endswith(".tar"))
    urls = [os.path.join(folder, n) for n in names]
    for sample in webdataset.WebDataset(urls, shardshuffle=False):
        fields = json.loads(sample["json"])
        show(fields["id"], fields["question"], fields["answer"], from_bytes(sample["0.png"]))


def write(folder, images, encodings):
    """Parquet by pyarrow through datasets, as every data set of the hub is written, with each codec."""
    import datasets
    import pyarrow as pa
    import pyarrow.parquet as parquet

    datasets.disable_progress_bars()
    names = sorted(os.listdir(images))
    for codec in encodings.split(","):
        features = datasets.Features(
            {
                "id": datasets.Value("string"),
                "images": datasets.Sequence(datasets.Image()),
                "question": datasets.Value("string"),
                "answer": datasets.Value("string"),
                "metadata": datasets.Value("string"),
            }
        )
        rows = {
            "id": [f"r{i}" for i in range(len(names))],
            "images": [
                [{"bytes": open(os.path.join(images, n), "rb").read(), "path": n}] for n in names
            ],
            "question": [f'Which "one", {i}?\nÄ 東' for i in range(len(names))],
            "answer": [str(i) for i in range(len(names))],
            "metadata": ["{}" for _ in names],
        }
        table = datasets.Dataset.from_dict(rows, features=features).with_format("arrow")[:]
        out = os.path.join(folder, codec, "data")
        os.makedirs(out, exist_ok=True)
        path = os.path.join(out, "train-00000-of-00001.parquet")
        parquet.write_table(table, path, compression=codec, row_group_size=7)
    for i, name in enumerate(names):
        show(f"r{i}", rows["question"][i], rows["answer"][i], Image.open(os.path.join(images, name)))


def versions():
    import importlib.metadata as metadata

    found = {}
    for name in ("datasets", "pyarrow", "webdataset", "pillow"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    print(json.dumps(found))


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "versions":
        versions()
    elif what == "datasets":
        read_datasets(*rest)
    elif what == "pyarrow":
        read_pyarrow(*rest)
    elif what == "webdataset":
        read_webdataset(*rest)
    elif what == "write":
        write(*rest)
    else:
        sys.exit(f"unknown: {what}")
