import { color, imageIndex, point, strokeWidth } from '../arguments.ts';
import { drawShape } from '../draw.ts';
import { defineTool, type Tool } from '../tool.ts';

/** Draws a straight line onto an image. */
export const imageDrawLineTool: Tool = defineTool({
  name: 'image_draw_line_tool',
  description: 'Draws a straight line onto a picture.',
  parameters: {
    start: point,
    end: point,
    color: color,
    width: strokeWidth,
    image_index: imageIndex,
  },
  example: { start: [10, 10], end: [60, 50] },
  isDeterministic: true,
  run: ({ start, end, ...stroke }, context) =>
    drawShape(context, 'line', [...start, ...end], stroke),
});
