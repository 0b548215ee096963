"""Reads the signs of a drawing, and finds what each belongs to: a point, a segment or an angle."""

import re

import cv2
import numpy as np
from operations.ocr import detect, read_line, recognize
from operations.straight_lines import frame
from operations.strokes import has_degree_sign

# The letter meant by each lone sign that is misread near a point.
LETTERS = {"0": "O", "1": "I", "5": "S", "8": "B", "2": "Z", "|": "I", "(": "C", "©": "C", "l": "I"}
POINT = re.compile(r"[A-Z][0-9']{0,2}")
DEGREES = re.compile(r"(.*?)\s*(?:°|º|˚|∘)")


def read_signs(image, groups):
    """Texts with their boxes: {"text", "box"}; those that touch strokes are found by detection."""
    signs = []
    for group in groups:
        text, confidence = read_box(image, group["box"])
        text = with_degrees(text, group)
        if text and confidence > 0.3:
            signs.append({"text": text, "box": [float(side) for side in group["box"]]})
    for quad, _ in detect(image):
        box = [*quad.min(axis=0), *quad.max(axis=0)]
        known = [one for one in signs if overlap(box, one["box"])]
        wide = max((one["box"][2] - one["box"][0] for one in known), default=0)
        # A sign that touches a stroke may be missing from a text that is known otherwise.
        if known and (len(known) > 1 or box[2] - box[0] < 1.2 * wide + 6):
            continue
        line = read_line(image, quad)
        text = tidy(line["text"])
        if not 0 < len(text) <= 8 or line["confidence"] < 0.6:
            continue
        if known and known[0]["text"] not in text:
            continue
        signs = [one for one in signs if one not in known]
        signs.append({"text": text, "box": [float(side) for side in box]})
    return signs


def with_degrees(text, group):
    """The recognizer sees degree signs where there are none, and takes them for zeros."""
    plain = text.rstrip("°º˚∘")
    if not has_degree_sign(group) or re.search("[0-9a-z)]", plain) is None:
        return plain
    is_extra = plain == text and len(plain) >= len(group["members"])
    return (plain[:-1] if is_extra and plain[-1] in "0oO'\"*^ac" else plain) + "°"


def read_box(image, box):
    left, top, right, bottom = box
    high = bottom - top
    pad = max(4, round(0.3 * high))
    height, width = image.shape[:2]
    crop = image[
        max(0, top - pad) : min(height, bottom + pad), max(0, left - pad) : min(width, right + pad)
    ]
    paper = np.median(image.reshape(-1, 3), axis=0)
    crop = cv2.copyMakeBorder(
        np.ascontiguousarray(crop), 0, 0, pad, pad, cv2.BORDER_CONSTANT, value=paper.tolist()
    )
    scale = 48 / crop.shape[0]
    crop = cv2.resize(crop, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    text, confidence, _ = recognize(crop)
    return tidy(text), confidence


def tidy(text):
    text = text.replace(" ", "")
    text = text.replace("（", "(").replace("）", ")").replace("′", "'").replace("’", "'")
    text = text.strip(".,;:_-~`\"").lstrip("'")
    # A degree sign follows a number or a small letter.
    return text[:-1] if re.fullmatch("[A-Z][°º˚∘]", text) else text


def overlap(a, b):
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    if wide <= 0 or high <= 0:
        return False
    least = min((a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1]))
    return wide * high > 0.3 * least


def middle(box):
    return np.array([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2])


def as_letter(text):
    """The name of a point that a text can be, or None."""
    if POINT.fullmatch(text):
        return text
    if len(text) == 1 and text.upper() in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
        return text.upper()
    return LETTERS.get(text)


def name_points(signs, items, height):
    """Gives points their letters, the closest pairs first; the signs that are left."""
    pairs = []
    for sign in signs:
        letter = as_letter(sign["text"])
        if letter is None:
            continue
        sure = bool(POINT.fullmatch(sign["text"]))
        for item in items:
            gap = box_distance(sign["box"], item["place"])
            far = np.hypot(*(middle(sign["box"]) - item["place"]))
            # A digit or a small letter is more often a length: it has to stand very close.
            limit = (1.6 if sure else 0.9) * height + 8
            if gap <= limit:
                weight = far + (0 if item["certain"] else 0.5 * height) + (0 if sure else height)
                pairs.append((weight, id(sign), sign, item, letter))
    used, names = set(), set()
    for _, key, sign, item, letter in sorted(pairs, key=lambda one: one[0]):
        if key in used or "name" in item or letter in names:
            continue
        item["name"] = letter
        used.add(key)
        names.add(letter)
    return [sign for sign in signs if id(sign) not in used]


def box_distance(box, place):
    x = max(box[0] - place[0], 0, place[0] - box[2])
    y = max(box[1] - place[1], 0, place[1] - box[3])
    return float(np.hypot(x, y))


def measure_text(text):
    """A measure as the grammar writes it, and whether it is in degrees; None for other texts."""
    plain = text.replace("×", "*").replace("−", "-").replace("–", "-").replace("√", "sqrt")
    plain = re.sub(r"sqrt(\d+)", r"sqrt(\1)", plain)
    plain = re.sub(r"(?<=\d)(?:cm|mm|m|km|in|ft)$", "", plain)
    degrees = DEGREES.fullmatch(plain)
    body = degrees.group(1) if degrees else plain
    if re.fullmatch(r"[a-z]|(?:[0-9.]|[a-z](?![a-z])|sqrt\(|[-+*/()])+", body) is None:
        return None
    if not re.search(r"[0-9a-z]", body) or body.count("(") != body.count(")"):
        return None
    return body, degrees is not None


def find_length(sign, segments, points, height):
    """The segment that a text stands beside, near its middle: (cost, [a, b])."""
    center = middle(sign["box"])
    best = None
    for a, b in segments:
        line = np.concatenate([points[a], points[b]])
        start, way, length = frame(line)
        along = (center - start) @ way
        across = abs((center - start) @ np.array([-way[1], way[0]]))
        half = abs(way[1]) * (sign["box"][2] - sign["box"][0]) / 2
        half += abs(way[0]) * (sign["box"][3] - sign["box"][1]) / 2
        gap = across - half
        if gap > 1.4 * height + 6 or not 0.12 * length < along < 0.88 * length:
            continue
        cost = max(gap, 0) + 0.6 * abs(along - length / 2)
        if best is None or cost < best[0]:
            best = (cost, [a, b])
    return best


def find_angle(sign, corners, points, arc_of, height):
    """The corner inside of which a text stands: (cost, [a, vertex, b])."""
    center = middle(sign["box"])
    best = None
    for a, vertex, b, start, sweep in corners:
        step = center - points[vertex]
        far = float(np.hypot(*step))
        turn = (np.arctan2(-step[1], step[0]) - start) % (2 * np.pi)
        if turn > np.pi + sweep / 2 + 1:
            turn -= 2 * np.pi
        outside = max(-turn, turn - sweep, 0) * far
        reach = min(np.hypot(*(points[a] - points[vertex])), np.hypot(*(points[b] - points[vertex])))
        if outside > 0.6 * height or far > min(0.95 * reach, 6 * height + 30):
            continue
        has_arc = (a, vertex, b) in arc_of
        cost = 0.5 * far + 2 * outside - (25 if has_arc else 0)
        if best is None or cost < best[0]:
            best = (cost, [a, vertex, b])
    return best
