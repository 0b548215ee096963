"""Says in which of eleven basic colors the pixels of an image are."""

import cv2
import numpy as np

NAMES = "red,orange,yellow,green,blue,purple,pink,brown,black,white,gray".split(",")


def color_indices(image):
    """[H, W] indices into NAMES of an [H, W, 3] uint8 RGB image.

    The bounds are ours, set by eye on a color circle: dark or pale pixels first, then by hue.
    """
    hsv = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2HSV)
    hue, saturation, value = (hsv[:, :, index].astype(np.int16) for index in range(3))
    hue = hue * 2  # degrees
    by_hue = np.select(
        [hue < 12, hue < 42, hue < 68, hue < 165, hue < 260, hue < 295, hue < 345],
        [0, 1, 2, 3, 4, 5, 6],
        default=0,
    )
    pink = (by_hue == 0) & (saturation < 130) & (value > 170)
    brown = (hue < 42) & (value < 165) & (saturation > 60) & ((hue >= 10) | (value < 110))
    found = np.where(pink, 6, np.where(brown, 7, by_hue))
    pale = (saturation < 45) | ((saturation < 70) & (value < 90))
    gray = np.select([value < 60, value > 200], [8, 9], default=10)
    return np.where(value < 45, 8, np.where(pale, gray, found))


def color_shares(image, box):
    """The share of each color among the pixels in the ellipse inside a box: {name: 0..1}."""
    height, width = image.shape[:2]
    left, top = (max(0, int(side)) for side in box[:2])
    right, bottom = min(width, int(np.ceil(box[2]))), min(height, int(np.ceil(box[3])))
    part = image[top:bottom, left:right]
    if part.size == 0:
        return dict.fromkeys(NAMES, 0.0)
    mask = np.zeros(part.shape[:2], dtype=np.uint8)
    high, wide = mask.shape
    # The corners of a box are mostly background.
    cv2.ellipse(mask, (wide // 2, high // 2), (wide // 2, high // 2), 0, 0, 360, 1, -1)
    mask[high // 2, wide // 2] = 1
    counts = np.bincount(color_indices(part)[mask == 1], minlength=len(NAMES))
    return {name: float(count / counts.sum()) for name, count in zip(NAMES, counts)}
