"""Pillow: images of arrays and arrays of images."""

import io

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

pixels = (np.arange(40 * 50 * 3).reshape(40, 50, 3) % 251).astype(np.uint8)
image = Image.fromarray(pixels)
print(image.size, image.mode, image.getpixel((3, 4)))
print(
    Image.fromarray(pixels[:, :, 0]).mode,
    Image.fromarray(pixels[::2, ::2]).size,
    Image.fromarray(pixels[..., 0] > 5).mode,
)
print(np.array(image).sum(), np.asarray(image.filter(ImageFilter.BLUR)).shape)
file = io.BytesIO()
image.save(file, "PNG")
print(np.array(Image.open(file)).sum() == pixels.sum())
print(
    np.asarray(image.convert("L")).astype(float).mean().round(4),
    np.asarray(image.resize((20, 20))).shape,
)
draw = ImageDraw.Draw(image)
draw.line([(0, 0), (10, 10)], fill=(255, 0, 0))
print(
    Image.frombuffer(
        "L", (50, 40), np.ascontiguousarray(pixels[..., 1]), "raw", "L", 0, 1
    ).getpixel((1, 1))
)
print((np.array(image)[..., 0] - 1).dtype)
