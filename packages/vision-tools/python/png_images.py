"""PNG bytes to arrays and back."""

import io
import warnings

import numpy as np
from declined import Declined
from PIL import Image

warnings.simplefilter("error", Image.DecompressionBombWarning)


def decode(data, max_pixels):
    """[H, W, 3] uint8 RGB of a PNG; transparency is laid on white.

    Raises Declined for what is no PNG, is cut short, or has more than `max_pixels`.
    """
    Image.MAX_IMAGE_PIXELS = max_pixels
    try:
        with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
            if image.width * image.height > max_pixels:
                raise Image.DecompressionBombError(f"{image.width} x {image.height} pixels")
            image.load()
            return _rgb(image)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise Declined("ImageTooLarge", f"The image is too large: {error}. Crop it.") from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise Declined("UnreadableImage", f"The image is no whole PNG: {error}.") from None


def _rgb(image):
    if image.mode.startswith("I"):  # 16 bits of gray: Pillow would clip instead of scale
        gray = (np.asarray(image).astype(np.uint32) >> 8).clip(0, 255).astype(np.uint8)
        return np.ascontiguousarray(np.stack([gray] * 3, axis=-1))
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        layer = image.convert("RGBA")
        white = Image.new("RGBA", layer.size, (255, 255, 255, 255))
        image = Image.alpha_composite(white, layer)
    return np.array(image.convert("RGB"))


def encode(array):
    """PNG bytes of [H, W, 3] RGB or [H, W] gray, uint8."""
    array = np.ascontiguousarray(array)
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or 0 in array.shape:
        raise ValueError(f"an image must be uint8 [H, W] or [H, W, 3], got {array.shape}")
    stream = io.BytesIO()
    Image.fromarray(array).save(stream, "PNG", compress_level=3)
    return stream.getvalue()
