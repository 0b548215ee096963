"""Depth from a rectified pair of images, by semi-global matching (Hirschmüller 2008) in OpenCV.

`run({"points": [[x, y]], "maxDisparity": 128}, [left, right])` gives `{"matched": share of pixels,
"disparity": {"low", "median", "high"}, "points": [disparity or null]}` and a map of disparities, near
light and far dark, black where nothing matched. Disparities are pixels of the left image.
"""

import cv2
import numpy as np
from declined import Declined

BLOCK = 5
MAX_SIDE = 1280


def disparity_map(left, right, most):
    """[H, W] float32 disparities in pixels, NaN where nothing matched."""
    most = max(16, -(-most // 16) * 16)
    gray = [cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) for image in (left, right)]
    # Pixels at the left edge have no partner; with a border they are matched as far as they can be.
    padded = [cv2.copyMakeBorder(one, 0, 0, most, 0, cv2.BORDER_REPLICATE) for one in gray]
    matcher = cv2.StereoSGBM_create(
        minDisparity=0,
        numDisparities=most,
        blockSize=BLOCK,
        P1=8 * BLOCK**2,
        P2=32 * BLOCK**2,
        disp12MaxDiff=1,
        uniquenessRatio=10,
        speckleWindowSize=100,
        speckleRange=2,
        mode=cv2.STEREO_SGBM_MODE_SGBM_3WAY,
    )
    found = matcher.compute(*padded)[:, most:].astype(np.float32) / 16
    found[found <= 0] = np.nan
    return found


def around(found, x, y):
    """The median disparity within two pixels of a point; None if most of that is unmatched."""
    part = found[max(0, y - 2) : y + 3, max(0, x - 2) : x + 3]
    known = part[np.isfinite(part)]
    return round(float(np.median(known)), 2) if known.size * 2 > part.size else None


def run(params, images):
    left, right = images
    if left.shape != right.shape:
        raise Declined("BadArgument", "The two images differ in size. Give a rectified pair.")
    scale = min(1.0, MAX_SIDE / max(left.shape[:2]))
    size = round(left.shape[1] * scale), round(left.shape[0] * scale)
    small = [
        cv2.resize(one, size, interpolation=cv2.INTER_AREA) if scale < 1 else one
        for one in (left, right)
    ]
    most = int(np.ceil(params.get("maxDisparity", 128) * scale))
    found = disparity_map(*small, most) / scale
    known = found[np.isfinite(found)]
    if known.size < 0.05 * found.size:
        raise Declined("NothingFound", "The images hardly match. Give a rectified pair, left first.")
    low, median, high = (round(float(one), 2) for one in np.percentile(known, (5, 50, 95)))
    spread = max(high - low, 1e-6)
    shown = np.where(np.isfinite(found), 40 + 215 * np.clip((found - low) / spread, 0, 1), 0)
    shown = cv2.resize(shown.astype(np.uint8), left.shape[1::-1], interpolation=cv2.INTER_NEAREST)
    points = [around(found, int(x * scale), int(y * scale)) for x, y in params.get("points", [])]
    return {
        "matched": round(known.size / found.size, 3),
        "disparity": {"low": low, "median": median, "high": high},
        "points": points,
    }, [shown]
