/** Shared code of the tools that draw on an image. */
import type { Outcome } from '@saccade/sandbox';
import { pythonValue } from './python.ts';
import { runOnImage } from './run-on-image.ts';
import type { ToolContext } from './tool.ts';

export interface Stroke {
  readonly color?: string | undefined;
  readonly width?: number | undefined;
  readonly image_index?: number | undefined;
}

/** Draws on a copy and shows it; a point is a disc whose radius is the stroke's width. */
export function drawShape(
  context: ToolContext,
  shape: 'rectangle' | 'line' | 'point',
  coordinates: readonly number[],
  { color = 'red', width, image_index = 0 }: Stroke,
): Promise<Outcome> {
  const script = `from PIL import ImageDraw
_drawn = image.convert("RGB")
_stroke = ${width ?? 'max(1, round(max(image.size) / 100))'}
_at = ${pythonValue(coordinates)}
_draw = ImageDraw.Draw(_drawn)
${lines[shape](JSON.stringify(color))}
_drawn.show()`;
  return runOnImage(context, image_index, [script]);
}

const lines = {
  rectangle: (color: string) => `_draw.rectangle(_at, outline=${color}, width=_stroke)`,
  line: (color: string) => `_draw.line(_at, fill=${color}, width=_stroke)`,
  point: (color: string) =>
    `_draw.ellipse([_at[0] - _stroke, _at[1] - _stroke, _at[0] + _stroke, _at[1] + _stroke], fill=${color})`,
};
