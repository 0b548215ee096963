"""Draws a figure of plane geometry: strokes with wobble, letters and lengths in a typeface.

`run({"seed", "width", "height", "lines": [[x, y, x, y]], "circles": [[x, y, r]], "arcs": [[x, y, r,
from, to]], "dots": [[x, y]], "texts": [{"x", "y", "text", "size"}], "style": {...}}, [])` gives the
image. Angles are in degrees, counterclockwise from the right. A style has `font`, `stroke` and `ink`,
`paper`, `wobble`, `blur`, `noise`.
"""

import cv2
import numpy as np
from operations.fonts import face
from PIL import Image, ImageDraw

SCALE = 4


def wobbled(random, points, wobble):
    """A stroke by hand: smooth noise that is zero at both ends."""
    count = len(points)
    if wobble == 0 or count < 3:
        return points
    knots = random.normal(0, wobble, (max(3, count // 12), 2))
    at = np.linspace(0, len(knots) - 1, count)
    noise = np.stack([np.interp(at, range(len(knots)), knots[:, axis]) for axis in (0, 1)], axis=1)
    fade = np.sin(np.linspace(0, np.pi, count))[:, None]
    return points + noise * fade


def stroke(draw, points, width, ink):
    flat = [tuple(point) for point in points * SCALE]
    draw.line(flat, fill=ink, width=max(1, round(width * SCALE)), joint="curve")
    radius = width * SCALE / 2
    for x, y in (flat[0], flat[-1]):
        draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=ink)


def circle_points(x, y, radius, start, end):
    angles = np.radians(np.linspace(start, end, max(12, round(abs(end - start) * radius / 120))))
    return np.stack([x + radius * np.cos(angles), y - radius * np.sin(angles)], axis=1)


def write(draw, text, name, ink, width):
    size = round(text["size"] * SCALE)
    font = face(name, size)
    at = text["x"] * SCALE, text["y"] * SCALE
    # Computer Modern's faces have no degree sign: it is a small circle.
    body = text["text"].removesuffix("°") if name.startswith("cm") else text["text"]
    draw.text(at, body, font=font, fill=ink, anchor="mm")
    if body != text["text"]:
        left, top, right, _ = draw.textbbox(at, body, font=font, anchor="mm")
        r, line = 0.13 * size, max(1, round(0.05 * size))
        x, y = right + 1.6 * r, top + r
        draw.ellipse([x - r, y - r, x + r, y + r], outline=ink, width=line)


def run(params, images):
    random = np.random.default_rng(params["seed"])
    style = params["style"]
    ink, paper = tuple(style["ink"]), tuple(style["paper"])
    size = params["width"] * SCALE, params["height"] * SCALE
    image = Image.new("RGB", size, paper)
    draw = ImageDraw.Draw(image)
    width, wobble = style["stroke"], style["wobble"]
    for x1, y1, x2, y2 in params["lines"]:
        steps = max(2, round(np.hypot(x2 - x1, y2 - y1) / 6))
        points = np.linspace((x1, y1), (x2, y2), steps)
        stroke(draw, wobbled(random, points, wobble), width, ink)
    for x, y, radius in params["circles"]:
        stroke(draw, circle_points(x, y, radius, 0, 360), width, ink)
    for x, y, radius, start, end in params["arcs"]:
        stroke(draw, circle_points(x, y, radius, start, end), width * 0.8, ink)
    for x, y in params["dots"]:
        radius = (width * 1.3 + 1.2) * SCALE
        draw.ellipse([x * SCALE - radius, y * SCALE - radius, x * SCALE + radius, y * SCALE + radius], fill=ink)
    for text in params["texts"]:
        write(draw, text, style["font"], ink, width)
    small = image.resize((params["width"], params["height"]), Image.Resampling.BOX)
    pixels = np.asarray(small).astype(np.float32)
    if style["blur"] > 0:
        pixels = cv2.GaussianBlur(pixels, (0, 0), style["blur"])
    pixels = pixels + random.normal(0, style["noise"], pixels.shape) if style["noise"] > 0 else pixels
    return {}, [pixels.clip(0, 255).round().astype(np.uint8)]
