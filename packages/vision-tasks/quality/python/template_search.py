"""Finds known drawings of unknown size on a photograph of one tone. Imported by `find_pictograms`."""

import cv2
import numpy as np

# Distances in chroma from the tone of the photograph around, of 8-bit L*a*b*, and how wide gaps are closed.
TONED = (4, 7, 12)
GAPS = (5, 11)
# Pixels over which the tone of a photograph changes.
STAIN = 61
# Longer side of things in pixels.
SMALLEST, LARGEST = 14, 90
# Side of drawings in the first comparison, and how many are compared again at full size.
COARSE, BEST = 20, 6
# Least cosine between the colors of a thing and of its drawing, and least share of the drawing's saturation.
LIKE, PALEST = 0.75, 0.08
# Largest root of the mean squared difference of gray levels.
ERROR = 30


def search(image, templates):
    """Things that are there: [{"name", "x", "y", "size", "error"}].

    image:     [H, W, 3] uint8 RGB
    templates: (name, [S, S, 3] uint8 RGB, [S, S] coverage from 0 to 1) each
    """
    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32)
    chroma = chroma_of(image)
    poses = [pose for template in templates for pose in mirrored(*template)]
    small = [(name, *scaled(cv2.cvtColor(drawing, cv2.COLOR_RGB2GRAY), mask, COARSE)) for name, drawing, mask in poses]
    found = []
    for box in strange_places(image):
        ranked = sorted((coarse(gray, box, *pose[1:]), index) for index, pose in enumerate(small))
        refined = [refine(gray, box, *poses[index]) for _, index in ranked[:BEST]]
        best = min(refined, key=lambda one: one["error"])
        if best["error"] < ERROR and is_colored(chroma, best):
            found.append({key: best[key] for key in ("name", "x", "y", "size", "error")})
    return without_overlaps(found)


def templates_of(kinds, drawings, masks):
    """(name, [S, S, 3] uint8 RGB, [S, S] coverage from 0 to 1) of drawings that stand beside each other."""
    side = drawings.shape[0]
    parts = [slice(index * side, (index + 1) * side) for index in range(len(kinds))]
    return [
        (kind["name"], np.ascontiguousarray(drawings[:, part]), masks[:, part, 0].astype(np.float32) / 255)
        for kind, part in zip(kinds, parts)
    ]


def is_colored(chroma, found):
    """Whether the colors are those of the drawing, or paler in the same proportions."""
    paint, cover = scaled(found["drawing"], found["mask"], found["size"])
    left, top = (round(found[axis] - found["size"] / 2) for axis in ("x", "y"))
    rows = np.clip(np.arange(top, top + found["size"]), 0, chroma.shape[0] - 1)
    columns = np.clip(np.arange(left, left + found["size"]), 0, chroma.shape[1] - 1)
    seen = chroma[np.ix_(rows, columns)][cover > 0]
    drawn = chroma_of(paint)[cover > 0]
    product, size = float((seen * drawn).sum()), float((drawn**2).sum())
    return product > LIKE * float((seen**2).sum() * size) ** 0.5 and product > PALEST * size


def mirrored(name, drawing, mask):
    return (name, drawing, mask), (name, np.ascontiguousarray(drawing[:, ::-1]), np.ascontiguousarray(mask[:, ::-1]))


def chroma_of(image):
    """[H, W, 2] chroma of 8-bit L*a*b*, around 0."""
    return cv2.cvtColor(image, cv2.COLOR_RGB2LAB)[:, :, 1:].astype(np.float32) - 128


def strange_places(image):
    """Boxes of parts whose color the photograph around does not have."""
    level = cv2.cvtColor(image, cv2.COLOR_RGB2LAB)[:, :, 0] // 8
    chroma = cv2.GaussianBlur(chroma_of(image), (0, 0), 0.8)
    everywhere = np.median(chroma.reshape(-1, 2), axis=0)
    steps = [chroma[level == step] for step in range(32)]
    tone = np.array([np.median(some, axis=0) if len(some) > 400 else everywhere for some in steps])
    rest = np.clip(chroma - tone[level] + 128, 0, 255).astype(np.uint8)
    around = np.dstack([cv2.medianBlur(channel, STAIN) for channel in cv2.split(rest)])
    gap = np.abs(rest.astype(np.float32) - around).max(axis=2)
    boxes = []
    for least in TONED:
        mask = (gap > least).astype(np.uint8)
        for side in GAPS:
            joined = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8))
            count, _, stats, _ = cv2.connectedComponentsWithStats(joined)
            for x, y, w, h, area in stats[1:count].tolist():
                box = [x, y, x + w, y + h]
                is_new = all(max(abs(a - b) for a, b in zip(box, other)) > 2 for other in boxes)
                if SMALLEST <= longer(box) <= LARGEST and area > 0.2 * w * h and is_new:
                    boxes.append(box)
    return boxes


def longer(box):
    return max(box[2] - box[0], box[3] - box[1])


def scaled(drawing, mask, side):
    """A drawing, and where it covers what is below."""
    paint = cv2.resize(drawing, (side, side), interpolation=cv2.INTER_AREA)
    cover = cv2.resize(mask, (side, side), interpolation=cv2.INTER_AREA)
    limit = min(0.9, 0.9 * float(cover.max()))
    return paint, (cover > limit).astype(np.float32)


def part_around(gray, box, grow):
    """A square around the middle of a box, its left upper corner and its side; replicated beyond edges."""
    side = max(4, int(round(longer(box) * grow)))
    left, top = round((box[0] + box[2] - side) / 2), round((box[1] + box[3] - side) / 2)
    rows = np.clip(np.arange(top, top + side), 0, gray.shape[0] - 1)
    columns = np.clip(np.arange(left, left + side), 0, gray.shape[1] - 1)
    return np.ascontiguousarray(gray[np.ix_(rows, columns)]), left, top, side


def error_of(part, paint, cover):
    """The least root mean squared difference, and where the drawing's corner is then."""
    squares = cv2.matchTemplate(part, paint.astype(np.float32), cv2.TM_SQDIFF, mask=cover) / max(1.0, cover.sum())
    low, _, corner, _ = cv2.minMaxLoc(squares)
    return max(0.0, low) ** 0.5, corner


def coarse(gray, box, paint, cover):
    """The least error where a thing is 1 to 1.35 times as long as its strange part."""
    errors = []
    for factor in (1.0, 1.2):
        part, _, _, side = part_around(gray, box, 1.5 * factor)
        shape = max(COARSE, round(side * COARSE / (longer(box) * factor)))
        errors.append(error_of(cv2.resize(part, (shape, shape), interpolation=cv2.INTER_AREA), paint, cover)[0])
    return min(errors)


def refine(gray, box, name, drawing, mask):
    part, left, top, _ = part_around(gray, box, 1.9)
    gray_drawing = cv2.cvtColor(drawing, cv2.COLOR_RGB2GRAY)
    best = None
    for factor in (0.94, 0.98, 1.02, 1.06, 1.12, 1.2, 1.3):
        side = max(8, round(longer(box) * factor))
        if side > part.shape[0]:
            continue
        error, (column, row) = error_of(part, *scaled(gray_drawing, mask, side))
        if best is None or error < best["error"]:
            place = {"x": left + column + side / 2, "y": top + row + side / 2, "size": side}
            best = {"name": name, "error": error, **place, "drawing": drawing, "mask": mask}
    return best


def without_overlaps(found):
    kept = []
    for one in sorted(found, key=lambda one: one["error"]):
        if all(np.hypot(one["x"] - k["x"], one["y"] - k["y"]) > 0.35 * (one["size"] + k["size"]) for k in kept):
            kept.append(one)
    return kept
