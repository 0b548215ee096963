/** Quarter turns and flips of square images: what makes one stand upright again, and the maps. */
import type { Box, PixelImage } from './draw-needle.ts';

/** Named as the tool that undoes them: turns count counter-clockwise, as Pillow's do. */
export type TurnTool =
  | 'rotate_90'
  | 'rotate_180'
  | 'rotate_270'
  | 'flip_horizontal'
  | 'flip_vertical';

/** Every `TurnTool`, quarter turns first. */
export const turnTools: readonly TurnTool[] = [
  'rotate_90',
  'rotate_180',
  'rotate_270',
  'flip_horizontal',
  'flip_vertical',
];

/** x' = a·x + b·y + c, y' = d·x + e·y + f, as [a, b, c, d, e, f]; pixels, y downwards. */
export type TurnMap = readonly [number, number, number, number, number, number];

/** From an image of side S to the same after a tool; without a tool, the identity. */
export function turnMap(tool: TurnTool | undefined, S: number): TurnMap {
  if (tool === 'rotate_90') return [0, 1, 0, -1, 0, S];
  if (tool === 'rotate_180') return [-1, 0, S, 0, -1, S];
  if (tool === 'rotate_270') return [0, -1, S, 1, 0, 0];
  if (tool === 'flip_horizontal') return [-1, 0, S, 0, 1, 0];
  if (tool === 'flip_vertical') return [1, 0, 0, 0, -1, S];
  return [1, 0, 0, 0, 1, 0];
}

/** The tool that undoes a tool. */
export function inverseTurn(tool: TurnTool): TurnTool {
  if (tool === 'rotate_90') return 'rotate_270';
  return tool === 'rotate_270' ? 'rotate_90' : tool;
}

/**
 * The tool equivalent to `outer` after `inner`: undefined where the two cancel, `other` where it is
 * none of the tools but a flip about a diagonal.
 */
export function composeTurn(
  outer: TurnTool | undefined,
  inner: TurnTool,
): TurnTool | 'other' | undefined {
  const [a, b, , d, e] = turnMap(outer, 0);
  const [p, q, , s, t] = turnMap(inner, 0);
  const both = [a * p + b * s, a * q + b * t, d * p + e * s, d * q + e * t];
  for (const tool of [undefined, ...turnTools]) {
    const [f, g, , h, i] = turnMap(tool, 0);
    if ([f, g, h, i].every((value, at) => value === both[at])) return tool;
  }
  return 'other';
}

/** Where a box lies after a tool. */
export function turnBox(tool: TurnTool | undefined, S: number, box: Box): Box {
  const [a, b, c, d, e, f] = turnMap(tool, S);
  const [left, top, right, bottom] = box;
  const xs = [a * left + b * top + c, a * right + b * bottom + c];
  const ys = [d * left + e * top + f, d * right + e * bottom + f];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/** The square image after a tool. */
export function turnImage(tool: TurnTool | undefined, { width, pixels }: PixelImage): PixelImage {
  const [a, b, c, d, e, f] = turnMap(tool, width);
  const turned = new Uint8Array(pixels.length);
  for (let y = 0; y < width; y++) {
    for (let x = 0; x < width; x++) {
      // Middles of pixels: their corners may lie on the far edge.
      const toX = Math.floor(a * (x + 0.5) + b * (y + 0.5) + c);
      const toY = Math.floor(d * (x + 0.5) + e * (y + 0.5) + f);
      const [from, to] = [(y * width + x) * 3, (toY * width + toX) * 3];
      turned[to] = pixels[from] as number;
      turned[to + 1] = pixels[from + 1] as number;
      turned[to + 2] = pixels[from + 2] as number;
    }
  }
  return { width, height: width, pixels: turned };
}
