"""Reads QR codes and the barcodes of goods (EAN-13, EAN-8, UPC-A), with OpenCV.

`run({}, [image])` gives `{"codes": [{"kind", "text", "box"}]}`.
"""

import cv2
import numpy as np

MAX_TEXT = 4000
# Scale and blur, in pixels, of each try at barcodes.
BARCODE_LOOKS = ((1, 0), (1, 1.5), (0.6, 1))


def boxed(kind, text, corners):
    left, top = np.min(corners, axis=0)
    right, bottom = np.max(corners, axis=0)
    box = [round(float(side), 1) for side in (left, top, right, bottom)]
    return {"kind": kind, "text": text[:MAX_TEXT], "box": box}


def read_codes(gray, scale, detector):
    """QR codes at a scale of the image, with boxes in its own pixels."""
    if scale != 1:
        gray = cv2.resize(gray, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    found, texts, corners, _ = detector.detectAndDecodeMulti(gray)
    if not found:
        return []
    pairs = zip(texts, corners)
    return [boxed("QR code", text, corner / scale) for text, corner in pairs if text]


def read_barcodes(gray, scale, blur):
    """Barcodes at a scale, with boxes in the image's own pixels; crisp wide bars need some blur."""
    if scale != 1:
        gray = cv2.resize(gray, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    if blur > 0:
        gray = cv2.GaussianBlur(gray, (0, 0), blur)
    found, texts, kinds, corners = cv2.barcode.BarcodeDetector().detectAndDecodeWithType(gray)
    if not found:
        return []
    return [boxed(*one[:2], one[2] / scale) for one in zip(kinds, texts, corners) if one[1]]


def run(params, images):
    gray = cv2.cvtColor(images[0], cv2.COLOR_RGB2GRAY)
    # Finders want modules of some pixels, and each misses some codes that the other reads.
    larger = 1.5 if max(gray.shape) < 2000 else 1
    looks = [(1, cv2.QRCodeDetectorAruco()), (larger, cv2.QRCodeDetectorAruco())]
    looks.append((larger, cv2.QRCodeDetector()))
    found = [code for look in looks for code in read_codes(gray, *look)]
    found += [code for look in BARCODE_LOOKS for code in read_barcodes(gray, *look)]
    codes = []
    for code in found:
        if not any(is_same(code, other) for other in codes):
            codes.append(code)
    codes.sort(key=lambda code: (code["box"][1], code["box"][0]))
    return {"codes": codes}, []


def is_same(code, other):
    """Whether two readings are of one code: of two codes, neither has the other's middle."""
    left, top, right, bottom = other["box"]
    x, y = (code["box"][0] + code["box"][2]) / 2, (code["box"][1] + code["box"][3]) / 2
    return code["text"] == other["text"] and left <= x <= right and top <= y <= bottom
