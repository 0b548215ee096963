import { color, imageIndex, point, strokeWidth } from '../arguments.ts';
import { drawShape } from '../draw.ts';
import { defineTool, type Tool } from '../tool.ts';

/** Draws a dot onto an image. */
export const imageDrawPointTool: Tool = defineTool({
  name: 'image_draw_point_tool',
  description: 'Draws a dot onto a picture.',
  parameters: { point, color: color, width: strokeWidth, image_index: imageIndex },
  example: { point: [30, 20] },
  isDeterministic: true,
  run: ({ point: at, ...stroke }, context) => drawShape(context, 'point', at, stroke),
});
