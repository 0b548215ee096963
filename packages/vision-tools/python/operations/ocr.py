"""Reads text with PP-OCRv4 (detection and recognition) in OpenCV's dnn module.

`run({"minConfidence": 0.5, "isRead": true, "region": [l, t, r, b]}, [image])`, all of them optional,
gives `{"words": [{"text", "box", "quad", "confidence", "places"}]}`; other operations import
`read_text`. Coordinates are pixels of the image, continuous: pixel i covers [i, i + 1). Lines come from
top to bottom, and from left to right within a row. Where `isRead` is false, texts are empty.
"""

import functools
import os
import unicodedata

import cv2
import numpy as np
from assets import asset
from declined import Declined
from operations.spaces import with_spaces
from recent import Recent

# Detection: DB, https://arxiv.org/abs/1911.08947, with the thresholds of PaddleOCR's PP-OCRv4.
MAX_SIDE = 1600
MIN_SIDE = 640
ROOMY = 100
PIXEL_THRESHOLD = 0.3
BOX_THRESHOLD = 0.6
UNCLIP_RATIO = 1.6
MAX_BOXES = 1000
MIN_BOX_SIDE = 3
# Recognition: lines of 48 pixels.
LINE_HEIGHT = 48
RECENT = Recent(32)
FULL_WIDTH = {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)}
MAX_LINE_WIDTH = 3200


@functools.cache
def detector():
    return cv2.dnn.readNetFromONNX(os.path.join(asset("ocr"), "ch_PP-OCRv4_det_infer.onnx"))


@functools.cache
def recognizer():
    net = cv2.dnn.readNetFromONNX(os.path.join(asset("ocr"), "ch_PP-OCRv4_rec_infer.onnx"))
    with open(os.path.join(asset("ocr"), "ppocr_keys_v1.txt"), encoding="utf-8") as file:
        symbols = file.read().split("\n")
    # Class 0 is CTC's blank; the last one is the space, which the file does not have.
    while symbols and symbols[-1] == "":
        symbols.pop()
    return net, ["", *symbols, " "]


def warm():
    detector()
    recognizer()


def text_map(image):
    """Probability of text for each pixel: [h, w] float32 of an image of another size.

    Returns also how to get from there to pixels of the image: a scale and the margin, x and y each.
    """
    height, width = image.shape[:2]
    # Text that touches the edge of a small image is not found as text.
    margin = 0 if min(height, width) >= ROOMY else round(0.3 * min(height, width)) + 4
    if margin > 0:
        around = [margin] * 4
        image = cv2.copyMakeBorder(image, *around, cv2.BORDER_REPLICATE)
        height, width = image.shape[:2]
    longest = max(height, width)
    scale = MAX_SIDE / longest if longest > MAX_SIDE else max(1.0, MIN_SIDE / longest)
    # Nets take multiples of 32; a line of text should not lose height to that.
    wide, high = (max(64, -(-round(side * scale) // 32) * 32) for side in (width, height))
    resized = cv2.resize(image, (wide, high), interpolation=cv2.INTER_LINEAR)
    # The nets were trained on BGR, with the means of ImageNet in the order of RGB.
    pixels = resized[:, :, ::-1].astype(np.float32) / 255
    pixels = (pixels - (0.485, 0.456, 0.406)) / (0.229, 0.224, 0.225)
    net = detector()
    net.setInput(np.ascontiguousarray(pixels.transpose(2, 0, 1)[None], dtype=np.float32))
    return net.forward()[0, 0], (width / wide, height / high), margin


def unclipped(quad, ratio):
    """A rotated rectangle grown by area * ratio / perimeter on each side, as DB does."""
    (center, (width, height), angle) = cv2.minAreaRect(quad)
    grow = width * height * ratio / max(2 * (width + height), 1e-6)
    return cv2.boxPoints((center, (width + 2 * grow, height + 2 * grow), angle))


def ordered(quad):
    """Corners from the upper left one clockwise, for text that runs from left to right."""
    by_x = quad[np.argsort(quad[:, 0], kind="stable")]
    left, right = by_x[:2], by_x[2:]
    left = left[np.argsort(left[:, 1], kind="stable")]
    right = right[np.argsort(right[:, 1], kind="stable")]
    return np.array([left[0], right[0], right[1], left[1]], dtype=np.float32)


def detect(image):
    """Quads of lines of text: [4, 2] float32 each, with the detector's confidence."""
    scores, scale, margin = text_map(image)
    mask = (scores > PIXEL_THRESHOLD).astype(np.uint8)
    contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    height, width = image.shape[:2]
    found = []
    for contour in contours[:MAX_BOXES]:
        rectangle = cv2.minAreaRect(contour)
        if min(rectangle[1]) < MIN_BOX_SIDE:
            continue
        quad = cv2.boxPoints(rectangle)
        confidence = mean_inside(scores, quad)
        if confidence < BOX_THRESHOLD:
            continue
        grown = unclipped(quad, UNCLIP_RATIO)
        grown = ordered(grown) * scale - margin
        grown = np.clip(grown, 0, (width, height)).astype(np.float32)
        if min(np.ptp(grown[:, 0]), np.ptp(grown[:, 1])) >= MIN_BOX_SIDE:
            found.append((grown, float(confidence)))
    return in_reading_order(found)


def mean_inside(scores, quad):
    left, top = np.maximum(np.floor(quad.min(axis=0)).astype(int), 0)
    right, bottom = np.ceil(quad.max(axis=0)).astype(int) + 1
    part = scores[top:bottom, left:right]
    if part.size == 0:
        return 0.0
    mask = np.zeros(part.shape, dtype=np.uint8)
    cv2.fillPoly(mask, [np.round(quad - (left, top)).astype(np.int32)], 1)
    return cv2.mean(part, mask)[0]


def in_reading_order(found):
    """Rows from top to bottom; two boxes share a row if their middles are within half a height."""
    rows = []
    for quad, confidence in sorted(found, key=lambda one: one[0][:, 1].mean()):
        middle, height = quad[:, 1].mean(), np.ptp(quad[:, 1])
        if rows and abs(middle - rows[-1][0]) < 0.5 * min(height, rows[-1][1]):
            rows[-1][2].append((quad, confidence))
        else:
            rows.append((middle, height, [(quad, confidence)]))
    return [one for *_, row in rows for one in sorted(row, key=lambda one: one[0][:, 0].min())]


def reading_quads(quad):
    """The quad with its corners in the order of reading; for a tall one both ways of turning it."""
    wide = np.linalg.norm(quad[1] - quad[0])
    tall = np.linalg.norm(quad[3] - quad[0])
    return [quad] if tall < 1.5 * wide else [np.roll(quad, 1, axis=0), np.roll(quad, -1, axis=0)]


def straightened(image, quad):
    """The line in a quad as an upright image."""
    top, bottom = np.linalg.norm(quad[1] - quad[0]), np.linalg.norm(quad[2] - quad[3])
    left, right = np.linalg.norm(quad[3] - quad[0]), np.linalg.norm(quad[2] - quad[1])
    width, height = max(1, round(max(top, bottom))), max(1, round(max(left, right)))
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    transform = cv2.getPerspectiveTransform(quad, corners)
    flags = {"flags": cv2.INTER_CUBIC, "borderMode": cv2.BORDER_REPLICATE}
    return cv2.warpPerspective(image, transform, (width, height), **flags)


def recognize(line):
    """The text of one line, the mean probability of its symbols, and where they are.

    Places run from 0 to 1 along the line, one for each symbol.
    """
    height, width = line.shape[:2]
    wide = int(np.clip(round(width * LINE_HEIGHT / height), 16, MAX_LINE_WIDTH))
    resized = cv2.resize(np.ascontiguousarray(line), (wide, LINE_HEIGHT))
    pixels = resized[:, :, ::-1].astype(np.float32) / 127.5 - 1
    # As in training, a line shorter than 320 pixels is padded with the middle gray.
    batch = np.zeros((1, 3, LINE_HEIGHT, max(wide, 320)), dtype=np.float32)
    batch[0, :, :, :wide] = pixels.transpose(2, 0, 1)
    net, symbols = recognizer()
    net.setInput(batch)
    probabilities = net.forward()[0]
    classes = probabilities.argmax(axis=1)
    step_width = batch.shape[3] / len(classes)
    text, weights, places, previous = "", [], [], 0
    for step, one in enumerate(classes):
        if one not in (0, previous):
            text += symbols[one]
            weights.append(float(probabilities[step, one]))
            places.append(round(min(1.0, (step + 0.5) * step_width / wide), 4))
        previous = one
    return text, float(np.mean(weights)) if weights else 0.0, places


def stripped(text, places):
    """Without space at its ends."""
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    return text[start:end], places[start:end]


def read_line(image, quad):
    """The line in a quad as `read_text` gives it; its text may be empty."""
    best = None
    for turned in reading_quads(quad):
        text, confidence, places = recognize(straightened(image, turned))
        if best is None or confidence > best[1]:
            best = text, confidence, places, turned
    text, confidence, places, turned = best
    text, places = with_spaces(straightened(image, turned), *stripped(text, places))
    if not any(unicodedata.east_asian_width(one) == "W" for one in text):
        # Brackets and commas of full width are the same signs to a reader of English.
        text = "".join(FULL_WIDTH.get(one, one) for one in text)
    left, top = quad.min(axis=0)
    right, bottom = quad.max(axis=0)
    return {
        "text": text,
        "box": [round(float(value), 1) for value in (left, top, right, bottom)],
        "quad": [[round(float(x), 1), round(float(y), 1)] for x, y in turned],
        "confidence": round(confidence, 3),
        "places": places,
    }


def read_text(image, min_confidence=0.5):
    """Lines of text: a list of {text, box: [l, t, r, b], quad: 4 x [x, y], confidence, places}.

    image: [H, W, 3] uint8 RGB
    """
    lines = RECENT.get(image, read_lines)
    return [line for line in lines if line["confidence"] >= min_confidence]


def read_lines(image):
    lines = (read_line(image, quad) for quad, _ in detect(image))
    return [line for line in lines if line["text"]]


def outline(quad):
    """A line that is not read: where it is."""
    word = {"text": "", "confidence": 0.0, "places": []}
    left, top, right, bottom = *quad.min(axis=0), *quad.max(axis=0)
    box = [round(float(value), 1) for value in (left, top, right, bottom)]
    return {**word, "box": box, "quad": [[round(float(x), 1), round(float(y), 1)] for x, y in quad]}


def moved(word, left, top):
    word["box"] = [round(side + (left, top)[index % 2], 1) for index, side in enumerate(word["box"])]
    word["quad"] = [[round(x + left, 1), round(y + top, 1)] for x, y in word["quad"]]
    return word


def run(params, images):
    image, left, top = images[0], 0, 0
    if "region" in params:
        height, width = image.shape[:2]
        left, top, right, bottom = (int(round(side)) for side in params["region"])
        left, right = (min(max(side, 0), width) for side in (left, right))
        top, bottom = (min(max(side, 0), height) for side in (top, bottom))
        if right - left < 2 or bottom - top < 2:
            raise Declined("NothingFound", f"The region is outside of the image of {width} x {height}.")
        image = np.ascontiguousarray(image[top:bottom, left:right])
    if params.get("isRead", True):
        words = read_text(image, params.get("minConfidence", 0.5))
    else:
        words = [outline(quad) for quad, _ in detect(image)]
    return {"words": [moved(word, left, top) for word in words]}, []
