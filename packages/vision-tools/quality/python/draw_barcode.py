"""Draws an EAN-13 barcode on white.

`run({"seed"}, [])` gives `{"text": 13 digits}` and the image.
"""

import numpy as np

# ISO/IEC 15420: seven modules a digit, and which half of the alphabet the first digit selects.
LEFT = "0001101 0011001 0010011 0111101 0100011 0110001 0101111 0111011 0110111 0001011".split()
PARITY = "LLLLLL LLGLGG LLGGLG LLGGGL LGLLGG LGGLLG LGGGLL LGLGLG LGLGGL LGGLGL".split()


def inverted(code):
    return "".join("10"[int(bit)] for bit in code)


def modules(digits):
    right = [inverted(code) for code in LEFT]
    even = [code[::-1] for code in right]
    first, rest = digits[0], digits[1:]
    left = [(LEFT if side == "L" else even)[one] for side, one in zip(PARITY[first], rest[:6])]
    return "101" + "".join(left) + "01010" + "".join(right[one] for one in rest[6:]) + "101"


def run(params, images):
    random = np.random.default_rng(params["seed"])
    digits = [int(one) for one in random.integers(0, 10, 12)]
    digits.append(-sum(one * (3 if index % 2 else 1) for index, one in enumerate(digits)) % 10)
    wide = int(random.integers(3, 6))
    bars = np.array([255 * (bit == "0") for bit in modules(digits)], dtype=np.uint8)
    bars = np.tile(np.repeat(bars, wide), (int(random.integers(90, 160)), 1))
    code = np.pad(bars, 14 * wide, constant_values=255)
    noise = random.normal(0, 4, code.shape)
    pixels = (code + noise).clip(0, 255).round().astype(np.uint8)
    return {"text": "".join(map(str, digits))}, [np.stack([pixels] * 3, axis=-1)]
