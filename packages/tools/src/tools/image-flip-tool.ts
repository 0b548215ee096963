import { z } from 'zod';
import { imageIndex } from '../arguments.ts';
import { runOnImage } from '../run-on-image.ts';
import { defineTool, type Tool } from '../tool.ts';

/** Mirrors an image; one of CodeVision's core operations, arXiv:2512.03746, §3.3.1. */
export const imageFlipTool: Tool = defineTool({
  name: 'image_flip_tool',
  description: 'Mirrors a picture: horizontally swaps left and right, vertically top and bottom.',
  parameters: {
    direction: z.enum(['horizontal', 'vertical']),
    image_index: imageIndex,
  },
  example: { direction: 'horizontal' },
  isDeterministic: true,
  run({ direction, image_index = 0 }, context) {
    const method = direction === 'horizontal' ? 'FLIP_LEFT_RIGHT' : 'FLIP_TOP_BOTTOM';
    const script = `image.transpose(Image.Transpose.${method}).show()`;
    return runOnImage(context, image_index, [script]);
  },
});
