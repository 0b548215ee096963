/** The tools: typed arguments in, the box of the image to show out. */
import type { Box } from '../task/pixel-image.ts';
import { type ToolCall, ToolError } from './tool-call.ts';

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

export interface Tool {
  readonly name: string;
  /** Arguments by name, for the prompt. */
  readonly signature: string;
  /** @throws ToolError if the arguments do not fit the tool or the image */
  readonly look: (given: Readonly<Record<string, unknown>>, size: ImageSize) => Box;
}

/** Cuts a box out: `{"box":[left,top,right,bottom]}`, pixels of the first image. */
const crop: Tool = {
  name: 'crop',
  signature: 'box',
  look(given, { width, height }) {
    const [left, top, right, bottom] = numbers(given, 'box', 4);
    if (left < 0 || top < 0 || right > width || bottom > height) {
      throw new ToolError(
        'OutsidePicture',
        `The box leaves the picture. Stay within ${width},${height}.`,
      );
    }
    if (left >= right || top >= bottom) {
      throw new ToolError('BadArguments', 'The box is empty. Write left, top, right, bottom.');
    }
    return [left, top, right, bottom];
  },
};

/** The largest `factor` of a zoom. */
const MOST_ZOOM = 8;

/**
 * Shows the part around a place that is 1/factor as wide and high as the image:
 * `{"center":[x,y],"factor":4}`. At an edge the part moves inwards.
 */
const zoom: Tool = {
  name: 'zoom',
  signature: 'center,factor',
  look(given, { width, height }) {
    const [x, y] = numbers(given, 'center', 2);
    const { factor } = given;
    if (typeof factor !== 'number' || !(factor >= 1 && factor <= MOST_ZOOM)) {
      throw new ToolError('BadArguments', `The factor is wrong. Write 1 to ${MOST_ZOOM}.`);
    }
    if (x < 0 || y < 0 || x > width || y > height) {
      throw new ToolError(
        'OutsidePicture',
        `The center leaves the picture. Stay within ${width},${height}.`,
      );
    }
    const [wide, high] = [Math.ceil(width / factor), Math.ceil(height / factor)];
    const left = inside(Math.round(x - wide / 2), width - wide);
    const top = inside(Math.round(y - high / 2), height - high);
    return [left, top, left + wide, top + high];
  },
};

export const tools: readonly Tool[] = [crop, zoom];

/**
 * The box that a call asks for.
 *
 * @throws ToolError if there is no such tool, or its arguments do not fit
 */
export function lookOf(call: ToolCall, size: ImageSize): Box {
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const known = tools.map(({ name }) => name).join(', ');
    throw new ToolError('UnknownTool', `There is no such tool. Known: ${known}.`);
  }
  return tool.look(call.arguments, size);
}

type Numbers = readonly [number, number, number, number];

/** The whole numbers of an argument. @throws ToolError if they are not `count` whole numbers */
function numbers(given: Readonly<Record<string, unknown>>, name: string, count: number): Numbers {
  const value = given[name];
  if (Array.isArray(value) && value.length === count && value.every(Number.isInteger)) {
    const [a = 0, b = 0, c = 0, d = 0] = value as readonly number[];
    return [a, b, c, d];
  }
  throw new ToolError('BadArguments', `The ${name} is wrong. Write ${count} whole numbers.`);
}

function inside(value: number, most: number): number {
  return Math.max(0, Math.min(most, value));
}
