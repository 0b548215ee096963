"""Sets photographs of things on another photograph, without overlap.

`run({"seed", "things": 2, "sign": "EXIT" or null}, [])` gives `{"objects": [{"class", "box"}], "sign":
[l, t, r, b] or null}` and the scene of 640 x 480.
"""

import cv2
from operations import fonts
import numpy as np
from PIL import Image, ImageDraw
from operations.photographs import THINGS, background, photograph

WIDTH, HEIGHT = 640, 480


def free_place(random, taken, width, height):
    for _ in range(200):
        x, y = int(random.integers(0, WIDTH - width)), int(random.integers(0, HEIGHT - height))
        box = [x, y, x + width, y + height]
        apart = (
            box[2] <= other[0] or other[2] <= box[0] or box[3] <= other[1] or other[3] <= box[1]
            for other in taken
        )
        if all(apart):
            return box
    return None


def run(params, images):
    random = np.random.default_rng(params["seed"])
    scene = background(random, WIDTH, HEIGHT)
    taken, objects = [], []
    for name in random.choice(list(THINGS), params.get("things", 2), replace=False):
        photo = photograph(str(name))
        scale = random.uniform(140, 280) / max(photo.shape[:2])
        size = [round(side * scale) for side in photo.shape[1::-1]]
        place = free_place(random, taken, *size)
        if place is None:
            continue
        taken.append(place)
        small = cv2.resize(photo, size, interpolation=cv2.INTER_AREA)
        if random.integers(2):
            small = small[:, ::-1]
            mirrored = True
        else:
            mirrored = False
        scene[place[1] : place[3], place[0] : place[2]] = small
        for kind, box in THINGS[str(name)]:
            left, right = box[0] * scale, box[2] * scale
            if mirrored:
                left, right = size[0] - right, size[0] - left
            where = [left, box[1] * scale, right, box[3] * scale]
            corner = [*place[:2], *place[:2]]
            objects.append({"class": kind, "box": [side + at for side, at in zip(where, corner)]})
    sign = None
    if params.get("sign"):
        font = fonts.face("DejaVuSans-Bold", int(random.integers(20, 36)))
        width, height = int(font.getlength(params["sign"])) + 24, font.size + 22
        place = free_place(random, taken, width, height) or [0, 0, width, height]
        image = Image.fromarray(scene)
        draw = ImageDraw.Draw(image)
        draw.rectangle((place[0], place[1], place[2], place[3]), fill=(250, 250, 245))
        at = place[0] + 12, place[1] + 8
        sign = fonts.drawn(draw, at, params["sign"], font, (20, 60, 20))
        scene = np.asarray(image)
    return {"objects": objects, "sign": sign}, [scene]
