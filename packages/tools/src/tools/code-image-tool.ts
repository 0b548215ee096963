import { count } from '@saccade/core/settings';
import { z } from 'zod';
import { runOnImage } from '../run-on-image.ts';
import { defineTool, type Tool } from '../tool.ts';

/** Names in the order in which a result is looked for. */
const results = ['result', 'output', 'processed_image', 'img', 'image'];

/** The variables of the code: the image under two names, a pen on it, and the libraries. */
const setUp = `import math
import numpy
from PIL import ImageChops, ImageDraw, ImageEnhance, ImageFilter, ImageFont, ImageOps
PI, E = math.pi, math.e
img = image
draw = ImageDraw.Draw(image)
_given = image`;

/** Shows the first name that holds something new; the image itself if none does. */
const collect = `_found = _given
for _name in ${JSON.stringify(results)}:
    _value = globals().get(_name)
    if _value is not None and _value is not _given:
        _found = _value
        break
if not isinstance(_found, Image.Image):
    raise TypeError(f"{_name} is no picture but {type(_found).__name__}: leave a PIL image in it")
_found.show()`;

/**
 * Runs code on one image and gives the image it leaves in `result`, `output`,
 * `processed_image`, `img` or `image`, the first of them that is new; the image as it is if
 * none is. Every call starts afresh: only images go from one to the next.
 *
 * CodeVision, arXiv:2512.03746, §3.1; names, order and the limit of 2048 characters from its code
 * (`code_image_tool`).
 */
export const codeImageTool: Tool = defineTool({
  name: 'code_image_tool',
  description:
    'Runs Python on a picture. The picture is a PIL image in the variable `image`, at its original ' +
    'size; leave what you want to see in the variable `result`. Turn, mirror and crop first. ' +
    'Crop: result = image.crop((left, top, right, bottom)). ' +
    'Turn counter-clockwise: result = image.rotate(90, expand=True). ' +
    'Mirror: result = image.transpose(Image.FLIP_LEFT_RIGHT). ' +
    'Brighten: result = ImageEnhance.Brightness(image).enhance(1.5). ' +
    'Contrast: result = ImageEnhance.Contrast(image).enhance(2).',
  settings: z.strictObject({
    maxCodeCharacters: count({
      min: 1,
      max: 1_000_000,
      // CodeVision's training configuration.
      default: 2048,
      unit: 'characters',
      about: 'Longer code is refused.',
    }),
  }),
  parameters: ({ maxCodeCharacters }) => ({
    code: z.string().min(1).max(maxCodeCharacters).describe('Python.'),
    description: z.string().max(2000).describe('What the code is for, in a few words.'),
    image_index: z
      .int()
      .min(0)
      .max(9999)
      .describe('The picture to work on: 0 is the one given, 1 the first made by a tool.'),
  }),
  example: {
    code: 'result = image.crop((10, 10, 60, 50))',
    description: 'Look at the corner.',
    image_index: 0,
  },
  run: ({ code, image_index }, context) => runOnImage(context, image_index, [setUp, code, collect]),
});
