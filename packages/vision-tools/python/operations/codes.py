"""Reads QR codes and the barcodes of goods (EAN-13, EAN-8, UPC-A), with OpenCV.

`run({}, [image])` gives `{"codes": [{"kind", "text", "box"}]}`.
"""

import cv2
import numpy as np

MAX_TEXT = 4000


def boxed(kind, text, corners):
    left, top = np.min(corners, axis=0)
    right, bottom = np.max(corners, axis=0)
    box = [round(float(side), 1) for side in (left, top, right, bottom)]
    return {"kind": kind, "text": text[:MAX_TEXT], "box": box}


def read_codes(gray):
    codes = []
    found, texts, corners, _ = cv2.QRCodeDetector().detectAndDecodeMulti(gray)
    if found:
        codes += [boxed("QR code", *one) for one in zip(texts, corners) if one[0]]
    found, texts, kinds, corners = cv2.barcode.BarcodeDetector().detectAndDecodeWithType(gray)
    if found:
        codes += [boxed(*one) for one in zip(kinds, texts, corners) if one[1]]
    return codes


def run(params, images):
    gray = cv2.cvtColor(images[0], cv2.COLOR_RGB2GRAY)
    codes = read_codes(gray)
    # Finders want modules of some pixels.
    if not codes and max(gray.shape) < 1500:
        codes = read_codes(cv2.resize(gray, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC))
        for code in codes:
            code["box"] = [round(side / 2, 1) for side in code["box"]]
    codes.sort(key=lambda code: (code["box"][1], code["box"][0]))
    return {"codes": codes}, []
