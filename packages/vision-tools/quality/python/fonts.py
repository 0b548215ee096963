"""Typefaces that come with matplotlib, and text drawn with them."""

import os

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

FOLDER = os.path.join(os.path.dirname(matplotlib.__file__), "mpl-data", "fonts", "ttf")
FACES = (
    "DejaVuSans",
    "DejaVuSans-Bold",
    "DejaVuSerif",
    "DejaVuSerif-Bold",
    "DejaVuSansMono",
    "STIXGeneral",
    "STIXGeneralBol",
)
WORDS = (
    "river garden window yellow bridge market paper silver winter teacher history simple morning "
    "kitchen island travel mountain engine library quarter station measure village harbor pencil "
    "summer castle doctor bottle forest painter ladder copper railway butter carpet planet senator"
).split()


def face(name, size):
    return ImageFont.truetype(os.path.join(FOLDER, f"{name}.ttf"), size)


def drawn(draw, at, text, font, color):
    """Draws text with its left upper corner at a point; the box of its ink."""
    draw.text(at, text, font=font, fill=color)
    return [round(float(side), 1) for side in draw.textbbox(at, text, font=font)]


def sentence(random, words):
    text = " ".join(random.choice(WORDS, words))
    return text[0].upper() + text[1:]


def amount(random):
    return f"{random.integers(1, 9999):,}.{random.integers(0, 100):02d}"


def line_of(random):
    """A line as documents have them."""
    kind = random.integers(6)
    if kind == 0:
        return f"Invoice No. {random.integers(1000, 99999)}"
    if kind == 1:
        return f"Total: ${amount(random)}"
    if kind == 2:
        day, year = random.integers(1, 29), random.integers(1980, 2030)
        return f"{day} {random.choice(['March', 'May', 'August', 'October'])} {year}"
    if kind == 3:
        return sentence(random, random.integers(2, 4)).upper()
    return sentence(random, random.integers(3, 7))


def canvas(width, height, color):
    image = Image.new("RGB", (width, height), color)
    return image, ImageDraw.Draw(image)


def noisy(image, random, sigma):
    """With Gaussian noise, as [H, W, 3] uint8."""
    pixels = np.asarray(image).astype(np.float32)
    if sigma > 0:
        pixels = pixels + random.normal(0, sigma, pixels.shape)
    return pixels.clip(0, 255).round().astype(np.uint8)
