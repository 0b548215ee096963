"""Reading text again where one pass does not suffice: turned and tiny labels."""

from typing import Callable, NamedTuple

import cv2
import numpy as np

from .texts import Text

# Angles in which labels of an axis are written, in degrees counterclockwise.
ANGLES = (0, 90, 45, 30, 60, 20, -45, -30, -60, -90)


class Reader(NamedTuple):
    """The OCR, passed in: `text` finds and reads the lines of an image, `line` reads one line.

    text: [H, W, 3] uint8 RGB to a list of {text, box, confidence}
    line: the same to (text, confidence)
    """

    text: Callable[[np.ndarray], list[dict]]
    line: Callable[[np.ndarray], tuple[str, float]]


def angle_of(ink: np.ndarray, usual: float) -> int:
    """The angle in degrees counterclockwise at which most words in a mask run.

    Letters are joined into words, and every word votes with its longer side.
    ink: [H, W] bool; usual: height of a digit in pixels
    """
    reach = max(3, 2 * round(0.17 * usual) + 1)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach))
    padded = cv2.copyMakeBorder(
        ink.astype(np.uint8), reach, reach, reach, reach, cv2.BORDER_CONSTANT
    )
    contours, _ = cv2.findContours(
        cv2.dilate(padded, kernel), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE
    )
    votes = dict.fromkeys(ANGLES, 0.0)
    for contour in contours:
        corners = cv2.boxPoints(cv2.minAreaRect(contour))
        sides = [corners[1] - corners[0], corners[2] - corners[1]]
        long, short = sorted(sides, key=lambda side: -np.hypot(*side))
        length, thickness = float(np.hypot(*long)), float(np.hypot(*short))
        if length < 1.35 * thickness or length < 1.2 * usual:
            continue
        turn = float(np.degrees(np.arctan2(-long[1], long[0])))
        away = {angle: abs((turn - angle + 90) % 180 - 90) for angle in ANGLES}
        votes[min(away, key=away.get)] += length - thickness
    best = max(votes, key=votes.get)
    return best if votes[best] > 0 else 0


def read_turned(rgb: np.ndarray, box: np.ndarray, angle: int, reader: Reader, fill) -> list[Text]:
    """Reads the lines that run at `angle` degrees inside a box, enlarged.

    The anchor of each text is the end of its line that is higher up in the image.
    rgb: [H, W, 3] uint8; box: [left, top, right, bottom] in pixels; fill: RGB behind the text
    """
    left, top = max(0, int(box[0])), max(0, int(box[1]))
    part = rgb[top : int(box[3]) + 1, left : int(box[2]) + 1]
    if min(part.shape[:2]) < 6:
        return []
    scale = 2.0 if max(part.shape[:2]) < 900 else 1.4
    large = cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    turned, back = _turned(large, -angle, fill)
    turned = np.ascontiguousarray(turned)
    items = [item for item in reader.text(turned) if item["text"].strip()]
    items += missed_words(turned, items, reader, np.array(fill))
    found = []
    for item in items:
        l, t, r, b = item["box"]
        corners = np.array([[l, t], [r, t], [r, b], [l, b], [l, (t + b) / 2], [r, (t + b) / 2]])
        placed = (corners @ back[:, :2].T + back[:, 2]) / scale + [left, top]
        ends = placed[4:]
        anchor = ends[ends[:, 1].argmin()] if angle != 0 else placed[:4].mean(0)
        here = np.concatenate([placed[:4].min(0), placed[:4].max(0)])
        words = item["text"].strip()
        found.append(Text(words, here, float(item["confidence"]), float(angle), tuple(anchor)))
    return found


def missed_words(
    image: np.ndarray, items: list[dict], reader: Reader, fill: np.ndarray
) -> list[dict]:
    """Reads lines of ink that no item covers, one by one: detectors of text miss short words.

    What is as high as the lines that were read is taken for a line; at most twelve are read.
    image: [H, W, 3] uint8 with text that runs to the right; fill: [3], the color behind it
    """
    if not items:
        return []
    line = float(np.median([item["box"][3] - item["box"][1] for item in items]))
    away = np.abs(image.astype(np.int16) - fill).max(-1)
    ink = (away > 70).astype(np.uint8)
    for item in items:
        l, t, r, b = (int(v) for v in item["box"])
        ink[max(0, t) : b + 1, max(0, l - 2) : r + 3] = 0
    reach = 2 * int(0.3 * line) + 1
    joined = cv2.dilate(ink, np.ones((3, reach), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    found = []
    for x, y, w, h, area in stats[1:count]:
        if not 0.45 * line <= h <= 1.5 * line or w < 0.6 * line or area < 0.2 * w * h:
            continue
        pad = 3
        x0, y0 = max(0, x - pad), max(0, y - pad)
        part = np.ascontiguousarray(image[y0 : y + h + pad, x0 : x + w + pad])
        words, confidence = reader.line(part)
        if words.strip() and confidence > 0.6:
            box = [float(x0), float(y0), float(x + w + pad), float(y + h + pad)]
            found.append({"text": words.strip(), "box": box, "confidence": confidence})
        if len(found) == 12:
            break
    return found


def _turned(image: np.ndarray, angle: float, fill=0) -> tuple[np.ndarray, np.ndarray]:
    """The image turned counterclockwise on a larger canvas, and the [2, 3] map back."""
    height, width = image.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0)
    cosine, sine = abs(turn[0, 0]), abs(turn[0, 1])
    wide, high = int(height * sine + width * cosine) + 1, int(height * cosine + width * sine) + 1
    turn[0, 2] += wide / 2 - width / 2
    turn[1, 2] += high / 2 - height / 2
    flags = {"flags": cv2.INTER_LINEAR, "borderMode": cv2.BORDER_CONSTANT, "borderValue": fill}
    return cv2.warpAffine(image, turn, (wide, high), **flags), cv2.invertAffineTransform(turn)


def reread_upright(rgb: np.ndarray, gap: np.ndarray, text: Text, reader: Reader) -> Text:
    """Reads an upright title again as far as its ink goes: OCR cuts its ends off.

    gap: [H, W] Lab distance to the page
    """
    left, right = max(0, int(text.box[0]) - 1), int(np.ceil(text.box[2])) + 2
    rows = (gap[:, left:right] > 18).any(1)
    top, bottom = max(0, int(text.box[1])), min(len(rows), int(np.ceil(text.box[3])))
    reach = int(1.1 * text.width)
    top, bottom = _grown(rows, top, reach, -1), _grown(rows, bottom - 1, reach, 1) + 1
    if bottom - top <= text.height + 4:
        return text
    top, bottom = max(0, top - 3), min(len(rows), bottom + 3)
    line = np.ascontiguousarray(np.rot90(rgb[top:bottom, left:right], -1))
    words, confidence = reader.line(line)
    if confidence < 0.7 or len(words) < len(text.text):
        return text
    return Text(words.strip(), np.array([left, top, right, bottom]), confidence, 90)


def _grown(rows: np.ndarray, start: int, reach: int, step: int) -> int:
    """The last row of ink from `start` on, over gaps of up to `reach` rows."""
    last, row = start, start
    while 0 <= row < len(rows) and abs(row - last) <= reach:
        if rows[row]:
            last = row
        row += step
    return last
