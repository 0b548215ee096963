/** A tool that the model may call: more contrast. */
import { z } from '@saccade/core/settings';
import { defineTool, runOnImage } from '@saccade/tools';

export const boostContrast = defineTool({
  name: 'boost_contrast',
  description: 'Stretches the gray levels of an image over the whole range and shows it.',
  // The model's arguments are checked against this before the tool runs.
  parameters: {
    index: z.int().min(0).max(99).optional().describe('Which image; the first by default.'),
  },
  example: { index: 0 },
  // The script runs in the sandbox, with Pillow imported and the image in the variable `image`.
  run: ({ index = 0 }, context) =>
    runOnImage(context, index, [
      'from PIL import ImageOps\nImageOps.autocontrast(image.convert("RGB")).show()',
    ]),
});
