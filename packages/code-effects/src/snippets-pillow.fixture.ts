/** Pillow, one call at a time. */
export const pillowSnippets: string = `
### crop of constants
image_clue_0.crop((10, 20, 110, 120)).show()
=> crop 10 20 110 120
### crop box by keyword
part = image_clue_0.crop(box=(0, 0, 50, 60))
part.show()
=> crop 0 0 50 60
### crop of a list
image_clue_0.crop([5, 6, 70, 80]).show()
=> crop 5 6 70 80
### crop of named numbers
x1, y1, x2, y2 = 100, 50, 300, 250
image_clue_0.crop((x1, y1, x2, y2)).show()
=> crop 100 50 300 250
### crop of a box by name
bbox = (12, 13, 112, 113)
region = image_clue_0.crop(bbox)
region.show()
=> crop 12 13 112 113
### crop with arithmetic of the size
w, h = image_clue_0.size
image_clue_0.crop((w // 2, 0, w, h // 2)).show()
=> crop 320 0 640 200
### crop with width and height
img = image_clue_0
img.crop((0, img.height - 100, img.width // 4, img.height)).show()
=> crop 0 300 160 400
### crop of shares of the size
W, H = image_clue_0.size
image_clue_0.crop((int(W * 0.25), int(H * 0.5), int(W * 0.75), int(H * 0.9))).show()
=> crop 160 200 480 360
### crop around a center
cx, cy, r = 200, 150, 40
image_clue_0.crop((cx - r, cy - r, cx + r, cy + r)).show()
=> crop 160 110 240 190
### crop with padding clamped by max and min
x1, y1, x2, y2 = 5, 30, 600, 380
pad = 20
w, h = image_clue_0.size
image_clue_0.crop((max(0, x1 - pad), max(0, y1 - pad), min(w, x2 + 60), min(h, y2 + pad))).show()
=> crop 0 10 640 400 ~
### crop of fractions rounds half to even
image_clue_0.crop((10.5, 11.5, 20.4, 30.6)).show()
=> crop 10 12 20 31
### crop of normalized coordinates in a list comprehension
box = [0.1, 0.2, 0.5, 0.6]
w, h = image_clue_0.size
px = [int(v * s) for v, s in zip(box, (w, h, w, h))]
image_clue_0.crop(tuple(px)).show()
=> crop 64 80 320 240
### crop with unpacked star
box = [30, 40, 90, 100]
image_clue_0.crop((*box[:2], *box[2:])).show()
=> crop 30 40 90 100
### crop of a dictionary's numbers
b = {'x': 20, 'y': 10, 'w': 100, 'h': 80}
image_clue_0.crop((b['x'], b['y'], b['x'] + b['w'], b['y'] + b['h'])).show()
=> crop 20 10 120 90
### crop over the edge
image_clue_0.crop((600, 350, 700, 450))
=> crop 600 350 700 450
### crop of everything
image_clue_0.crop((0, 0, 640, 400)).show()
=> crop 0 0 640 400 ~
### crop of nine tenths
image_clue_0.crop((0, 0, 640, 360)).show()
=> crop 0 0 640 360 ~
### crop of a little less
image_clue_0.crop((0, 0, 640, 350)).show()
=> crop 0 0 640 350
### rotate by 90 with expand
image_clue_0.rotate(90, expand=True).show()
=> rotate_90
### rotate by 180
image_clue_0.rotate(180).show()
=> rotate_180
### rotate clockwise by a negative angle
image_clue_0.rotate(-90, expand=1).show()
=> rotate_270
### rotate by 270 with expand in place
image_clue_0.rotate(270, Image.BICUBIC, True).show()
=> rotate_270
### rotate by nothing
image_clue_0.rotate(0).show()
=> rotate ~
### rotate by a full turn
image_clue_0.rotate(360, expand=True).show()
=> rotate ~
### rotate by 45
image_clue_0.rotate(45, expand=True).show()
=> rotate
### rotate by a few degrees
angle = -3.5
image_clue_0.rotate(angle, expand=False, fillcolor=(255, 255, 255)).show()
=> rotate
### rotate by nearly 90
image_clue_0.rotate(88, expand=True).show()
=> rotate_90
### rotate by 90 without expand
image_clue_0.rotate(90).show()
=> rotate_90
### transpose constants of old
image_clue_0.transpose(Image.ROTATE_90).show()
=> rotate_90
### transpose constants of new
image_clue_0.transpose(Image.Transpose.ROTATE_270).show()
=> rotate_270
### transpose mirrors
image_clue_0.transpose(Image.FLIP_LEFT_RIGHT).show()
image_clue_0.transpose(method=Image.Transpose.FLIP_TOP_BOTTOM).show()
=> flip_horizontal; flip_vertical
### transpose and transverse
image_clue_0.transpose(Image.Transpose.TRANSPOSE).show()
image_clue_0.transpose(Image.Transpose.TRANSVERSE).show()
=> transpose; transverse
### mirror and flip of ImageOps
from PIL import ImageOps
ImageOps.mirror(image_clue_0).show()
ImageOps.flip(image_clue_0).show()
=> flip_horizontal; flip_vertical
### resize
image_clue_0.resize((320, 200), Image.NEAREST).show()
=> resize 320 200
### resize to the same size
image_clue_0.resize(image_clue_0.size).show()
=> resize 640 400 ~
### resize by a factor
s = 2
image_clue_0.resize((image_clue_0.width * s, image_clue_0.height * s), Image.Resampling.NEAREST).show()
=> resize 1280 800
### resize of a box
image_clue_0.resize((100, 100), Image.NEAREST, box=(40, 40, 90, 90)).show()
=> resize 100 100
### thumbnail in place
t = image_clue_0.copy()
t.thumbnail((128, 128))
print(t.size)
=> resize 128 80
### thumbnail larger than the image
t = image_clue_0.copy()
t.thumbnail((1000, 1000))
=> resize 1000 1000 ~
### reduce
image_clue_0.reduce(4)
=> resize 160 100
### ImageOps contain and scale
from PIL import ImageOps
a = ImageOps.contain(image_clue_0, (100, 100))
b = ImageOps.scale(image_clue_0, 0.5)
print(a.size, b.size)
=> resize 100 62; resize 320 200
### ImageOps fit and expand
from PIL import ImageOps as ops
ops.fit(image_clue_0, (200, 200))
ops.expand(image_clue_0, border=10, fill='white')
=> resize 200 200; pad
### enhance brightness up and down
from PIL import ImageEnhance
ImageEnhance.Brightness(image_clue_0).enhance(1.5).show()
ImageEnhance.Brightness(image_clue_0).enhance(0.7).show()
=> brightness_up; brightness_down
### enhance contrast by a kept enhancer
from PIL import ImageEnhance
enhancer = ImageEnhance.Contrast(image_clue_0)
out = enhancer.enhance(2.0)
out.show()
=> contrast
### enhance by one
from PIL import ImageEnhance
ImageEnhance.Sharpness(image_clue_0).enhance(1.0).show()
=> sharpness ~
### enhance color and sharpness
import PIL.ImageEnhance
PIL.ImageEnhance.Color(image_clue_0).enhance(0)
PIL.ImageEnhance.Sharpness(image_clue_0).enhance(3)
=> color; sharpness
### filters
from PIL import ImageFilter
image_clue_0.filter(ImageFilter.SHARPEN).show()
image_clue_0.filter(ImageFilter.GaussianBlur(radius=2)).show()
image_clue_0.filter(ImageFilter.MedianFilter(3)).show()
image_clue_0.filter(ImageFilter.FIND_EDGES).show()
=> sharpen; gaussian_blur; median_blur; edge_detect
### more filters
from PIL.ImageFilter import BLUR, DETAIL, EDGE_ENHANCE, SMOOTH, EMBOSS
for f in [BLUR, DETAIL, EDGE_ENHANCE, SMOOTH, EMBOSS]:
    image_clue_0.filter(f)
=> blur; detail; edge_enhance; smooth; emboss
### grayscale by convert
g = image_clue_0.convert('L')
g.show()
=> grayscale
### convert to RGB is nothing
image_clue_0.convert('RGB').show()
=>
### ImageOps tones
from PIL import ImageOps
ImageOps.autocontrast(image_clue_0)
ImageOps.equalize(image_clue_0)
ImageOps.invert(image_clue_0)
ImageOps.posterize(image_clue_0, 2)
ImageOps.solarize(image_clue_0)
ImageOps.grayscale(image_clue_0)
=> autocontrast; equalize; invert; posterize; solarize; grayscale
### drawing
from PIL import ImageDraw
canvas = image_clue_0.copy()
d = ImageDraw.Draw(canvas)
d.rectangle([10, 10, 50, 50], outline='red', width=3)
d.line((0, 0, 100, 100), fill='blue')
d.text((5, 5), 'A', fill='red')
canvas.show()
=> render_marks; render_lines; render_text
### pixels as numbers
print(image_clue_0.getpixel((3, 4)))
h = image_clue_0.histogram()
print(image_clue_0.getbbox())
=> numerical_analysis; histogram; numerical_analysis
### paste on a canvas
sheet = Image.new('RGB', (800, 400), 'white')
sheet.paste(image_clue_0, (0, 0))
sheet.show()
=> composite
`;
