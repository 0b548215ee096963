"""Numbers as charts write them, read from recognized text."""

import re
import unicodedata
from dataclasses import dataclass

_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "m": 1e6, "B": 1e9, "G": 1e9, "b": 1e9, "T": 1e12}
# Characters that the recognizer writes for a minus sign; the form of a number as it is read.
_MINUS = "−–—‐‑﹣－"
_NUMBER = re.compile(
    r"^(?P<unit>[$€£¥])?(?P<sign>[-+])?(?P<unit2>[$€£¥])?(?P<body>\d[\d,.\s]*|\.\d+)"
    r"(?:[eE](?P<exponent>[-+]?\d{1,3}))?\s*(?P<scale>[kKMmBGbT])?\s*(?P<tail>%|°C?|°F)?$"
)


@dataclass(frozen=True)
class Number:
    """A number and the unit written with it (`%`, `$`, `°C` or none)."""

    value: float
    unit: str


def parse_number(text: str) -> Number | None:
    """The number that a text is, or None: `1,250`, `1.5k`, `-0.20`, `$3M`, `45%`, `2e6`."""
    plain = unicodedata.normalize("NFKC", text).strip()
    for sign in _MINUS:
        plain = plain.replace(sign, "-")
    plain = plain.rstrip(".,;:'`·-_").lstrip(".,;:'`·_") if not plain.startswith(".") else plain
    plain = _digits_for_letters(plain)
    match = _NUMBER.match(plain)
    if match is None:
        return None
    body = _plain_digits(match["body"])
    if body is None:
        return None
    value = float(body) * _SCALES.get(match["scale"] or "", 1.0)
    if match["exponent"] is not None:
        exponent = int(match["exponent"])
        if abs(exponent) > 30:
            return None
        value *= 10.0**exponent
    if match["sign"] == "-":
        value = -value
    return Number(value, match["unit"] or match["unit2"] or match["tail"] or "")


def _digits_for_letters(text: str) -> str:
    """A lone O is a zero, and O, o, l, I, S between digits are 0, 0, 1, 1, 5."""
    if text in ("O", "o", "D", "Q"):
        return "0"
    if not re.search(r"\d", text):
        return text
    swaps = str.maketrans({"O": "0", "o": "0", "l": "1", "I": "1", "S": "5", "|": "1"})
    return text.translate(swaps) if re.fullmatch(r"[-+$%\d.,\sOolIS|]+", text) else text


def _plain_digits(body: str) -> str | None:
    compact = re.sub(r"\s+", "", body)
    if compact.count(".") > 1:
        parts = compact.split(".")
        return "".join(parts) if all(len(part) == 3 for part in parts[1:]) else None
    if "," not in compact:
        return compact.rstrip(".") or None
    whole, _, rest = compact.partition(".")
    groups = whole.split(",")
    if all(len(group) == 3 for group in groups[1:]) and len(groups[0]) <= 3:
        return "".join(groups) + (f".{rest}" if rest else "")
    # A decimal comma: one comma, not before three digits.
    return ".".join(groups) if len(groups) == 2 and not rest else None


def format_number(value: float, digits: int = 4) -> str:
    """A number with `digits` significant digits and no exponent up to 1e15."""
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    if "e" in text and abs(value) < 1e15:
        text = f"{float(text):.10f}".rstrip("0").rstrip(".")
    return text
