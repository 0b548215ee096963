"""The Hugging Face side of the comparison of processors; `processors.mjs` calls it.

    processors.py DIR

Builds the processors of published families from their configurations, chat templates and a tokenizer,
and saves each to DIR/<name> as `save_pretrained` does (some also in the files of transformers 4). Then
encodes the conversations of DIR/inputs.json and prepares its images and videos. DIR/goldens.json gets
the token ids, and a SHA-256 of each pixel tensor's patches; DIR/texts.json the token ids of models of
text alone.
"""
import hashlib
import importlib.util
import json
import shutil
import sys
from copy import deepcopy
from pathlib import Path

import torchvision_ops  # noqa: F401  before transformers looks for torchvision
import numpy as np
import torch
from PIL import Image
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast
from transformers.models.got_ocr2.image_processing_got_ocr2 import GotOcr2ImageProcessor
from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil
from transformers.models.idefics3.image_processing_idefics3 import Idefics3ImageProcessor
from transformers.models.idefics3.processing_idefics3 import Idefics3Processor
from transformers.models.internvl.processing_internvl import InternVLProcessor
from transformers.models.internvl.video_processing_internvl import InternVLVideoProcessor
from transformers.models.qwen2_5_vl.processing_qwen2_5_vl import Qwen2_5_VLProcessor
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.qwen2_vl.image_processing_qwen2_vl import Qwen2VLImageProcessor
from transformers.models.qwen2_vl.video_processing_qwen2_vl import Qwen2VLVideoProcessor
from transformers.models.qwen3_vl.processing_qwen3_vl import Qwen3VLProcessor
from transformers.models.qwen3_vl.video_processing_qwen3_vl import Qwen3VLVideoProcessor
from transformers.models.smolvlm import processing_smolvlm
from transformers.models.smolvlm.image_processing_pil_smolvlm import SmolVLMImageProcessorPil
from transformers.models.smolvlm.image_processing_smolvlm import SmolVLMImageProcessor
from transformers.models.smolvlm.video_processing_smolvlm import SmolVLMVideoProcessor
from transformers.video_utils import VideoMetadata

# The templates of the checkpoints, which TRL ships to recognize them; InternVL's is that of
# transformers' conversion script with the placeholder that its processor expects.
TEMPLATES = Path(importlib.util.find_spec("trl").submodule_search_locations[0]) / "chat_templates"
INTERNVL_TEMPLATE = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n'}}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for content in message['content'] %}"
    "{% if content['type'] == 'image' %}{{ '<IMG_CONTEXT>\n' }}"
    "{% elif content['type'] == 'video' %}{{ '<video>\n' }}"
    "{% elif content['type'] == 'text' %}{{ content['text'] }}{% endif %}{% endfor %}{% endif %}"
    "{{'<|im_end|>\n'}}{% endfor %}{% if add_generation_prompt %}{{'<|im_start|>assistant\n' }}{% endif %}"
)
IMAGENET_MEAN, IMAGENET_STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def template(name: str) -> str:
    return (TEMPLATES / f"{name}.jinja").read_text()


def number_in_words(number: int) -> str:
    """What num2words gives for a whole number below 100, where the package is not installed."""
    small = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    words = (small + " sixteen seventeen eighteen nineteen").split()
    if number < 20:
        return words[number]
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()[number // 10 - 2]
    return tens if number % 10 == 0 else f"{tens}-{words[number % 10]}"


processing_smolvlm.num2words = processing_smolvlm.num2words or number_in_words


def qwen_tokenizer(source: Path, directory: Path, last_id: int, more: list[str], named: dict[str, str]):
    """Qwen's tokenizer up to an id, with more special tokens after it."""
    tokenizer = json.loads((source / "tokenizer.json").read_text())
    config = json.loads((source / "tokenizer_config.json").read_text())
    added = [token for token in tokenizer["added_tokens"] if token["id"] <= last_id]
    for content in more:
        added.append({**added[0], "id": added[-1]["id"] + 1, "content": content})
    tokenizer["added_tokens"] = added
    config.pop("chat_template")
    config["added_tokens_decoder"] = {
        str(token["id"]): {key: value for key, value in token.items() if key != "id"} for token in added
    }
    config["additional_special_tokens"] = [token["content"] for token in added if token["special"]]
    if named:
        config["extra_special_tokens"] = named
        config.pop("additional_special_tokens")
    directory.mkdir(parents=True)
    (directory / "tokenizer.json").write_text(json.dumps(tokenizer))
    (directory / "tokenizer_config.json").write_text(json.dumps(config))
    return AutoTokenizer.from_pretrained(directory)


def trained_tokenizer(corpus: list[str], split, special: list[str], bos: str | None) -> PreTrainedTokenizerFast:
    """A byte-level BPE like those of SmolLM2 and Llama 3, but small."""
    tokenizer = Tokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=split is None)
    first = pre_tokenizers.Digits(individual_digits=True) if split is None else split
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([first, byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=1500, initial_alphabet=alphabet))
    tokenizer.add_special_tokens(special)
    if bos is not None:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{bos} $A", special_tokens=[(bos, tokenizer.token_to_id(bos))]
        )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=bos, eos_token=special[1])


PLACES = [f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)]
AROUND = ["<fake_token_around_image>", "<image>", "<global-img>", "<end_of_utterance>", *PLACES]
LLAMA_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


class Family:
    """A processor, what its image processor is called on Pillow, and how it was saved."""

    def __init__(self, processor, config: dict, pil=None, patch: int = 0, merge: int = 0):
        self.processor, self.config, self.pil, self.patch, self.merge = processor, config, pil, patch, merge


def build(source: Path, root: Path, corpus: list[str]) -> dict[str, Family]:
    plain = qwen_tokenizer(source, root / "tokenizers/qwen2_5", 151664, [], {})
    thinking = qwen_tokenizer(source, root / "tokenizers/qwen3", 151668, [], {})
    named = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
        "video_token": "<video>",
    }
    marks = [*list(named.values())[:3], "<quad>", "</quad>", "<ref>", "</ref>", "<box>", "</box>", "<video>"]
    intern = qwen_tokenizer(source, root / "tokenizers/internvl", 151664, marks, named)
    smol = trained_tokenizer(corpus, None, ["<|im_start|>", "<|im_end|>", "<|endoftext|>", *AROUND], None)
    llama_split = pre_tokenizers.Split(Regex(LLAMA_SPLIT), "isolated")
    llama = trained_tokenizer(
        corpus, llama_split, ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>", *AROUND], "<|begin_of_text|>"
    )

    half = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    qwen2 = {"min_pixels": 56 * 56, "max_pixels": 1_003_520}
    qwen3 = {"size": {"shortest_edge": 65_536, "longest_edge": 16_777_216}, "patch_size": 16, **half}
    tile = {"size": {"height": 448, "width": 448}, "image_mean": IMAGENET_MEAN, "image_std": IMAGENET_STD}

    def qwen2_5(images, videos):
        return Qwen2_5_VLProcessor(images, plain, videos, chat_template=template("qwen2_5_vl"))

    def qwen3_vl(images, videos, name, tokenizer):
        return Qwen3VLProcessor(images, tokenizer, videos, chat_template=template(name))

    def smolvlm(images, videos, length):
        return processing_smolvlm.SmolVLMProcessor(
            images, smol, videos, image_seq_len=length, chat_template=processing_smolvlm.DEFAULT_CHAT_TEMPLATE
        )

    def internvl(settings, length):
        return InternVLProcessor(
            GotOcr2ImageProcessor(**settings),
            intern,
            InternVLVideoProcessor(**settings),
            image_seq_length=length,
            chat_template=INTERNVL_TEMPLATE,
        )

    intern_config = {"model_type": "internvl", "vision_config": {"patch_size": [14, 14]}}
    qwen2_videos = Qwen2VLVideoProcessor(size={"shortest_edge": 12_544, "longest_edge": 50_176})
    qwen3_size = {"shortest_edge": 16_384, "longest_edge": 131_072}
    qwen3_videos = Qwen3VLVideoProcessor(size=qwen3_size)
    smol_small = {"size": {"longest_edge": 256}, "max_image_size": {"longest_edge": 128}}
    smol_large = {"size": {"longest_edge": 1536}, "max_image_size": {"longest_edge": 384}}
    return {
        "qwen2_5_vl": Family(
            qwen2_5(Qwen2VLImageProcessor(**qwen2), qwen2_videos),
            {"model_type": "qwen2_5_vl"},
            Qwen2VLImageProcessorPil(**qwen2),
            14,
            2,
        ),
        "qwen3_vl": Family(
            qwen3_vl(Qwen2VLImageProcessor(**qwen3), qwen3_videos, "qwen3_vl", thinking),
            {"model_type": "qwen3_vl"},
            Qwen2VLImageProcessorPil(**qwen3),
            16,
            2,
        ),
        "qwen3_5": Family(
            qwen3_vl(
                Qwen2VLImageProcessor(**qwen3),
                Qwen3VLVideoProcessor(size=qwen3_size, cap_pixels_per_frame=True),
                "qwen3_5_think",
                thinking,
            ),
            {"model_type": "qwen3_5"},
        ),
        "internvl": Family(internvl(tile, 256), intern_config, GotOcr2ImageProcessorPil(**tile), 14, 1),
        "internvl-small": Family(internvl({**tile, "size": {"height": 56, "width": 56}}, 4), intern_config),
        "idefics3": Family(
            Idefics3Processor(
                Idefics3ImageProcessor(**smol_small), llama, image_seq_len=9, chat_template=template("idefics3")
            ),
            {"model_type": "idefics3", "vision_config": {"patch_size": 14}},
        ),
        "smolvlm": Family(
            smolvlm(SmolVLMImageProcessor(**smol_large), SmolVLMVideoProcessor(**smol_large), 81),
            {"model_type": "smolvlm", "vision_config": {"patch_size": 14}},
            SmolVLMImageProcessorPil(**smol_large),
            14,
            1,
        ),
        "smolvlm-small": Family(
            smolvlm(SmolVLMImageProcessor(**smol_small), SmolVLMVideoProcessor(**smol_small), 4),
            {"model_type": "smolvlm", "vision_config": {"patch_size": 16}},
        ),
    }


def save(family: Family, directory: Path) -> None:
    family.processor.save_pretrained(directory)
    (directory / "config.json").write_text(json.dumps(family.config))


def save_separately(family: Family, directory: Path) -> None:
    """The files of transformers 4: one for each part, and the template in the tokenizer's."""
    save(family, directory)
    (directory / "processor_config.json").unlink()
    (directory / "chat_template.jinja").unlink()
    images = {**family.processor.image_processor.to_dict(), "processor_class": type(family.processor).__name__}
    (directory / "preprocessor_config.json").write_text(json.dumps(images))
    videos = family.processor.video_processor.to_dict()
    (directory / "video_preprocessor_config.json").write_text(json.dumps(videos))
    config = json.loads((directory / "tokenizer_config.json").read_text())
    config["chat_template"] = family.processor.chat_template
    (directory / "tokenizer_config.json").write_text(json.dumps(config))


def patches_of(pixels: torch.Tensor, patch: int) -> np.ndarray:
    """[…, 3, height, width] as patches [N, 3·patch·patch]; those of Qwen are patches already."""
    values = pixels.numpy()
    if values.ndim == 2:
        return values
    values = values.reshape(-1, *values.shape[-3:])
    count, channels, height, width = values.shape
    rows, columns = height // patch, width // patch
    values = values[:, :, : rows * patch, : columns * patch]
    values = values.reshape(count, channels, rows, patch, columns, patch).transpose(0, 2, 4, 1, 3, 5)
    return np.ascontiguousarray(values.reshape(-1, channels * patch * patch))


def digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def bytes_of(patches: np.ndarray, processor) -> np.ndarray:
    """The bytes before normalization."""
    shape = (len(patches), 3, -1)
    mean = np.array(processor.image_mean).reshape(1, 3, 1)
    std = np.array(processor.image_std).reshape(1, 3, 1)
    values = (patches.astype(np.float64).reshape(shape) * std + mean) * 255
    rounded = np.round(values)
    assert np.abs(values - rounded).max() < 1e-3
    return rounded.astype(np.uint8)


def image_goldens(family: Family, images: list[Image.Image | None]) -> list[dict | None]:
    """Of each image: the values on torchvision, and the bytes on Pillow; None where it is left out."""
    goldens = []
    extra = {"crop_to_patches": True} if family.pil.__class__.__name__.startswith("GotOcr2") else {}
    for image in images:
        goldens.append(None)
        if image is None: continue
        try:
            ours = family.processor.image_processor(images=[image], return_tensors="pt", **extra)
        except ValueError as error:
            goldens[-1] = {"error": str(error)}
            continue
        patches = patches_of(ours["pixel_values"], family.patch)
        on_pil = family.pil(images=[image], return_tensors="pt", **extra)["pixel_values"]
        pil_patches = patches_of(on_pil, family.patch)
        goldens[-1] = {
            "shape": list(patches.shape),
            "values": digest(patches.astype(np.float32)),
            "bytes": digest(bytes_of(patches, family.processor.image_processor)),
            "pilBytes": digest(bytes_of(pil_patches, family.pil)),
        }
    return goldens


def video_golden(family: Family, patch: int, frames: np.ndarray, metadata: dict) -> dict:
    processor = family.processor.video_processor
    output = processor(videos=[frames], video_metadata=[dict(metadata)], do_sample_frames=False, return_tensors="pt")
    pixels = output["pixel_values_videos"] if "pixel_values_videos" in output else output["pixel_values"]
    patches = patches_of(pixels, patch)
    return {"shape": list(patches.shape), "values": digest(patches.astype(np.float32))}


def conversation_golden(family: Family, item: dict, images, videos, metadata) -> dict:
    messages = deepcopy(item["messages"])
    shown = []
    for message in messages:
        for part in message["content"] if isinstance(message["content"], list) else []:
            if part["type"] == "image":
                part["image"] = images[part["image"]]
            elif part["type"] == "video":
                shown.append(VideoMetadata(**metadata[part["video"]]))
                part["video"] = videos[part["video"]]
    arguments = {"do_sample_frames": False, "video_metadata": shown} if shown else {}
    try:
        output = family.processor.apply_chat_template(
            messages,
            tools=item.get("tools"),
            add_generation_prompt=item["addGenerationPrompt"],
            tokenize=True,
            return_dict=True,
            processor_kwargs={"return_tensors": "pt", **arguments},
        )
    except Exception as error:  # noqa: BLE001  the other side must refuse it, too
        return {"error": f"{type(error).__name__}: {error}"}
    golden = {"ids": output["input_ids"][0].tolist()}
    if "second_per_grid_ts" in output:
        golden["secondsPerGrid"] = [float(seconds) for seconds in output["second_per_grid_ts"]]
    return golden


# Models of text alone: their templates, and the tokenizers of others that they share.
TEXTS = {
    "qwen2": ("qwen2_5", "qwen2_5"),
    "qwen3": ("qwen3", "qwen3"),
    "qwen3-instruct": ("qwen3_instruct_2507", "qwen3"),
}


def text_of(content) -> str | None:
    """The text of a message's content; None where it shows an image or a video."""
    if isinstance(content, str):
        return content
    isText = all(part["type"] == "text" for part in content)
    return "".join(part["text"] for part in content) if isText else None


def text_goldens(root: Path, conversations: list[dict]) -> dict[str, list[list[int] | None]]:
    """Saves tokenizers of models of text alone, and encodes the conversations without images."""
    goldens = {}
    for name, (template_name, tokenizer_name) in TEXTS.items():
        tokenizer = AutoTokenizer.from_pretrained(root / "tokenizers" / tokenizer_name)
        tokenizer.chat_template = template(template_name)
        tokenizer.save_pretrained(root / name)
        (root / name / "config.json").write_text(json.dumps({"model_type": name.split("-")[0]}))
        goldens[name] = []
        for item in conversations:
            messages = [{**one, "content": text_of(one["content"])} for one in item["messages"]]
            if any(one["content"] is None for one in messages):
                goldens[name].append(None)
                continue
            options = {"tools": item.get("tools"), "add_generation_prompt": item["addGenerationPrompt"]}
            text = tokenizer.apply_chat_template(messages, tokenize=False, **options)
            goldens[name].append(tokenizer(text)["input_ids"])
    return goldens


def main(directory: Path) -> None:
    inputs = json.loads((directory / "inputs.json").read_text())
    families = build(Path(inputs["tokenizer"]), directory, inputs["corpus"])
    images = [Image.open(directory / name).convert("RGB") for name in inputs["images"]]
    videos, metadata = [], []
    for video in inputs["videos"]:
        frames = [np.array(Image.open(directory / name).convert("RGB")) for name in video["frames"]]
        videos.append(np.stack(frames))
        metadata.append({key: value for key, value in video.items() if key != "frames"})
    goldens = {}
    for name, family in families.items():
        save(family, directory / name)
        golden = {"images": [], "videos": [], "conversations": []}
        if family.pil is not None:
            places = inputs["imagesOf"].get(name, range(len(images)))
            golden["images"] = image_goldens(family, [one if i in places else None for i, one in enumerate(images)])
        if hasattr(family.processor, "video_processor"):
            patch = family.config.get("vision_config", {}).get("patch_size", 0)
            patch = patch[0] if isinstance(patch, list) else patch
            golden["videos"] = [
                video_golden(family, patch, frames, data) for frames, data in zip(videos, metadata, strict=True)
            ]
        golden["conversations"] = [
            conversation_golden(family, item, images, videos, metadata) if name in item["families"] else {}
            for item in inputs["conversations"]
        ]
        goldens[name] = golden
    save_separately(families["qwen2_5_vl"], directory / "separate")
    (directory / "goldens.json").write_text(json.dumps(goldens))
    texts = text_goldens(directory, inputs["conversations"])
    (directory / "texts.json").write_text(json.dumps(texts))
    shutil.rmtree(directory / "tokenizers")


main(Path(sys.argv[1]))
