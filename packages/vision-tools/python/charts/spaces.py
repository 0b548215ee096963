"""Puts back the spaces that a recognizer leaves out: where the image shows a gap as wide as a space."""

import numpy as np

from .texts import Text, tight_box

# Advance widths of a sans serif, with n as 100; between Arial's and DejaVu's.
_WIDTHS = {
    **dict.fromkeys("ijl'|.,:;!", 43), **dict.fromkeys("t", 57), **dict.fromkeys("f()[]-/", 56),
    **dict.fromkeys("rI", 60), **dict.fromkeys("sckvxyz", 90), **dict.fromkeys("m", 155),
    **dict.fromkeys("w", 132), **dict.fromkeys("M", 148), **dict.fromkeys("W", 168),
    **dict.fromkeys("ABCDEFGHKLNOPQRSTUVXYZ", 120), **dict.fromkeys("%", 165),
}


def with_spaces(gap: np.ndarray, text: Text) -> str:
    """A text that runs to the right, with its spaces.

    Gaps of at least 0.28 line heights are spaces. Which letters stand between two gaps follows from
    usual glyph widths. gap: [H, W] Lab distance to what is behind the text.
    """
    letters = text.text.replace(" ", "")
    if text.angle != 0 or len(letters) < 4 or text.number is not None:
        return text.text
    left, top, right, bottom = tight_box(gap, text.box).astype(int)
    ink = gap[top:bottom, left:right]
    if ink.size == 0:
        return text.text
    filled = (ink > max(18.0, 0.3 * float(ink.max()))).any(0)
    words = _words(filled, max(3.0, 0.28 * (bottom - top)))
    while 1 < len(words) <= len(letters):
        cuts = _cuts(letters, [b - a for a, b in words])
        pieces = [letters[a:b] for a, b in zip([0, *cuts], [*cuts, len(letters)])]
        alone = [k for k, piece in enumerate(pieces) if _is_fragment(piece)]
        if not alone:
            return " ".join(pieces)
        # No word has one letter: there the letters of this typeface stand wide.
        _join_nearer(words, alone[0])
    return letters if len(words) == 1 and " " not in text.text else text.text


def _words(filled: np.ndarray, space: float) -> list[tuple[int, int]]:
    edges = np.diff(np.concatenate([[0], filled.astype(np.int8), [0]]))
    words: list[tuple[int, int]] = []
    for start, end in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)):
        if words and start - words[-1][1] < space:
            words[-1] = (words[-1][0], int(end))
        else:
            words.append((int(start), int(end)))
    return words


def _is_fragment(piece: str) -> bool:
    return len(piece) == 1 and piece.isalpha() and piece not in "aAI"


def _join_nearer(words: list[tuple[int, int]], index: int) -> None:
    """Joins a word with the neighbor that is nearer, in place."""
    before = words[index][0] - words[index - 1][1] if index > 0 else np.inf
    after = words[index + 1][0] - words[index][1] if index + 1 < len(words) else np.inf
    first = index - 1 if before <= after else index
    words[first : first + 2] = [(words[first][0], words[first + 1][1])]


def _cuts(letters: str, widths: list[int]) -> list[int]:
    """Where to cut the letters so that the words' usual widths are nearest to the measured ones."""
    usual = np.array([_WIDTHS.get(letter, 100) for letter in letters], float)
    sums = np.concatenate([[0], np.cumsum(usual)]) * (sum(widths) / usual.sum())
    count, total = len(letters), len(widths)
    cost = np.full((total + 1, count + 1), np.inf)
    back = np.zeros((total + 1, count + 1), int)
    cost[0, 0] = 0
    for word in range(1, total + 1):
        for end in range(word, count + 1):
            starts = np.arange(word - 1, end)
            trial = cost[word - 1, starts] + np.abs(sums[end] - sums[starts] - widths[word - 1]) ** 1.5
            best = int(trial.argmin())
            cost[word, end], back[word, end] = trial[best], starts[best]
    cuts, end = [], count
    for word in range(total, 1, -1):
        end = int(back[word, end])
        cuts.append(end)
    return cuts[::-1]
