import { z } from 'zod';
import { imageIndex } from '../arguments.ts';
import { refused } from '../refused.ts';
import { runOnImage } from '../run-on-image.ts';
import { defineTool, type Tool } from '../tool.ts';

const factor = z.number().min(0).max(10).optional();

/** Changes brightness, then contrast; each as a factor as Pillow's ImageEnhance has them. */
export const imageAdjustTool: Tool = defineTool({
  name: 'image_adjust_tool',
  description: 'Changes brightness and contrast of a picture.',
  parameters: {
    brightness: factor.describe('1 leaves it, 2 doubles it, 0 is black.'),
    contrast: factor.describe('1 leaves it, 2 doubles it, 0 is grey.'),
    image_index: imageIndex,
  },
  example: { contrast: 2 },
  isDeterministic: true,
  async run({ brightness, contrast, image_index = 0 }, context) {
    if (brightness === undefined && contrast === undefined) {
      return refused('MissingArgument', 'Give brightness or contrast, or both.');
    }
    const script = `from PIL import ImageEnhance
_changed = ImageEnhance.Brightness(image.convert("RGB")).enhance(${brightness ?? 1})
ImageEnhance.Contrast(_changed).enhance(${contrast ?? 1}).show()`;
    return runOnImage(context, image_index, [script]);
  },
});
