"""Answers a question about what differs between images of a scene by subtracting them.

`run({"question", "kinds": [{"name"}]}, [*images, drawings, masks])` gives the answer as text, or None
where the images are the same. The drawings are squares beside each other, one of each kind; masks are
white where they paint.
"""

import re

import cv2
import numpy as np
from operations.template_search import mirrored, refine, templates_of

# Above what shrinking and enlarging again leaves of a difference elsewhere.
LEAST = 10
# Parts of a change that are nearer to each other than this belong to one thing; pixels.
NEAR = 7
# Distance in chroma from the tone of the photograph, of 8-bit L*a*b*.
TONED = 9
# Least share of such colors where a thing is; things as brown as the photograph have few.
PAINTED = 0.08
# Least share of the colors of a thing that stay when it is turned.
KEPT = 0.87


def run(params, images):
    question = params["question"]
    *scenes, drawings, masks = images
    if "Which image is it" in question:
        return odd_one(scenes), []
    before, after = scenes
    changed = difference(before, after) > LEAST
    places = places_of(changed)
    if not places:
        return None, []
    if "In which cell" in question:
        return cell_of(changed), []
    tone = tone_of(before)
    shown = [[has_thing(image, changed, place, tone) for image in (before, after)] for place in places]
    if "How many things" in question:
        return str(max(1, sum(was for was, _ in shown))), []
    counted = re.search(r"How many are (\w+)\?", question)
    if counted:
        return str(count_of(counted[1], before, after, places, shown)), []
    if "Which kind of thing" in question:
        templates = templates_of(params["kinds"], drawings, masks)
        return name_of(question, before, places, shown, templates), []
    return kind_of(before, after, changed, places, shown), []


def difference(one, other):
    return np.abs(one.astype(np.int16) - other).max(axis=2)


def odd_one(images):
    """The number of the image whose differences to the others are largest in sum."""
    far = [[int((difference(a, b) > LEAST).sum()) for b in images] for a in images]
    sums = [sum(row) for row in far]
    return str(sums.index(max(sums)) + 1) if max(sums) > 0 else None


def places_of(changed):
    """Boxes around parts that belong together."""
    side = 2 * (NEAR // 2) + 1
    joined = cv2.dilate(changed.astype(np.uint8), np.ones((side, side), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(joined)
    boxes = [[x, y, x + w, y + h] for x, y, w, h, _ in stats[1:count].tolist()]
    return [box for box in boxes if changed[box[1] : box[3], box[0] : box[2]].sum() >= 12]


def cell_of(changed):
    rows, columns = np.nonzero(changed)
    height, width = changed.shape
    row = int((rows.min() + rows.max()) / 2 * 3 / height)
    column = int((columns.min() + columns.max()) / 2 * 3 / width)
    return f"{'ABC'[row]}{column + 1}"


def lab_of(image):
    return cv2.cvtColor(image, cv2.COLOR_RGB2LAB).astype(np.int16)


def tone_of(image):
    """[32, 2] chroma of the photograph, which has one tone, by lightness."""
    lab = lab_of(image).reshape(-1, 3)
    everywhere = np.median(lab[:, 1:], axis=0)
    steps = [lab[lab[:, 0] // 8 == step, 1:] for step in range(32)]
    return np.array([np.median(some, axis=0) if len(some) > 200 else everywhere for some in steps])


def strange(image, place, tone):
    """Where a box shows a color that the photograph does not have."""
    left, top, right, bottom = place
    lab = lab_of(image[top:bottom, left:right])
    gap = np.abs(lab[:, :, 1:] - tone[lab[:, :, 0] // 8]).max(axis=2)
    return gap > TONED


def has_thing(image, changed, place, tone):
    left, top, right, bottom = place
    return bool(strange(image, place, tone)[changed[top:bottom, left:right]].mean() > PAINTED)


def kind_of(before, after, changed, places, shown):
    came = [place for place, (was, now) in zip(places, shown) if now and not was]
    left = [place for place, (was, now) in zip(places, shown) if was and not now]
    if came and left:
        return "moved"
    if left:
        return "removed"
    place = max(places, key=lambda box: (box[2] - box[0]) * (box[3] - box[1]))
    return "rotated" if is_turned(before, after, place) else "recolored"


def count_of(kind, before, after, places, shown):
    """How many things are changed in a way: what came at a place left another one."""
    came = sum(now and not was for was, now in shown)
    left = sum(was and not now for was, now in shown)
    stayed = [place for place, (was, now) in zip(places, shown) if was == now]
    turned = sum(is_turned(before, after, place) for place in stayed)
    return {
        "moved": came,
        "removed": max(0, left - came),
        "rotated": turned,
        "recolored": len(stayed) - turned,
    }[kind]


def name_of(question, before, places, shown, templates):
    """The kind whose drawing is most like what was at the changed place."""
    listed = set(re.split(r", (?:or )?", question.split(": ")[-1].rstrip("?")))
    gray = cv2.cvtColor(before, cv2.COLOR_RGB2GRAY).astype(np.float32)
    there = [place for place, (was, _) in zip(places, shown) if was] or places
    poses = [pose for template in templates if template[0] in listed for pose in mirrored(*template)]
    found = [refine(gray, thing_in(place), *pose) for place in there for pose in poses]
    return min(found, key=lambda one: one["error"])["name"] if found else None


def thing_in(place):
    """The box of the thing itself, without what joins its parts."""
    left, top, right, bottom = place
    return [left + NEAR // 2, top + NEAR // 2, right - NEAR // 2, bottom - NEAR // 2]


def is_turned(before, after, place):
    """Whether the colors of a box are nearly as many as before, only elsewhere."""
    left, top, right, bottom = place
    bins = [lab_of(image[top:bottom, left:right])[:, :, 1:].reshape(-1, 2) // 12 for image in (before, after)]
    counts = [np.bincount(some[:, 0] * 32 + some[:, 1], minlength=1024) for some in bins]
    shared = np.minimum(*counts).sum() / counts[0].sum()
    return bool(shared > KEPT)
