"""Sets QR codes on a photograph, seen at an angle.

`run({"seed", "texts": ["…"]}, [])` gives `{"codes": [{"text", "box"}]}` and the image.
"""

import cv2
import numpy as np
from operations.photographs import background

WIDTH, HEIGHT = 640, 480


def run(params, images):
    random = np.random.default_rng(params["seed"])
    scene = background(random, WIDTH, HEIGHT).astype(np.float32)
    codes = []
    for index, text in enumerate(params["texts"]):
        code = cv2.QRCodeEncoder_create().encode(text)
        side = random.uniform(110, 210)
        code = cv2.copyMakeBorder(code, 4, 4, 4, 4, cv2.BORDER_CONSTANT, value=255)
        code = cv2.resize(code, (400, 400), interpolation=cv2.INTER_NEAREST)
        turn = random.uniform(0, 2 * np.pi)
        corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * side / 2
        matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        middle = (170 + 300 * index, random.uniform(170, HEIGHT - 170))
        quad = corners @ matrix.T + middle + random.uniform(-0.05, 0.05, (4, 2)) * side
        source = np.array([[0, 0], [400, 0], [400, 400], [0, 400]], dtype=np.float32)
        transform = cv2.getPerspectiveTransform(source, quad.astype(np.float32))
        flags = {"flags": cv2.INTER_AREA}
        warped = cv2.warpPerspective(code, transform, (WIDTH, HEIGHT), **flags)
        alpha = cv2.warpPerspective(np.full_like(code, 255), transform, (WIDTH, HEIGHT), **flags)
        alpha = alpha[:, :, None] / 255
        scene = scene * (1 - alpha) + warped[:, :, None] * alpha
        box = [*quad.min(axis=0), *quad.max(axis=0)]
        codes.append({"text": text, "box": [round(float(one), 1) for one in box]})
    pixels = scene + random.normal(0, random.choice([0, 3, 6]), scene.shape)
    return {"codes": codes}, [pixels.clip(0, 255).round().astype(np.uint8)]
