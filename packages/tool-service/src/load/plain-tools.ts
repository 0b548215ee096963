/** Small tools for tests and load: they need no sandbox, and their answers are known beforehand. */
import { createHash } from 'node:crypto';
import type { Outcome } from '@saccade/sandbox';
import { defineTool, refused, type Tool, type ToolContext, type ToolImage } from '@saccade/tools';
import { z } from 'zod';

const imageIndex = z
  .int()
  .min(0)
  .max(9999)
  .optional()
  .describe('Which image; the first by default.');
const ticket = z.string().max(100).optional().describe('Makes a call unlike all others.');

/** An outcome that says a text, and shows an image as it is. */
function says(stdout: string, shown?: ToolImage): Outcome {
  const images = shown === undefined ? [] : [mirrored(shown)];
  return {
    ...{ kind: 'ok', stdout, stderr: '', images, truncated: [] },
    ...{ wallMs: 0, cpuMs: 0, maxRssKb: 0, tier: 'none' },
  };
}

function mirrored({ name, png, width, height, origin }: ToolImage): Outcome['images'][number] {
  const own = { image: name, map: [1, 0, 0, 0, 1, 0] } as const;
  return { png, width, height, source: 'image', origin: origin ?? own };
}

function imageAt({ images }: ToolContext, index: number): ToolImage | Outcome {
  return (
    images[index] ??
    refused('BadArgument', `There is no image ${index}. Write 0 to ${images.length - 1}.`)
  );
}

/** The text that `digest_tool` returns for an image. */
export function digestText({ name, png, width, height }: ToolImage): string {
  const digest = createHash('sha256').update(png).digest('hex').slice(0, 16);
  return `${name}: ${width}×${height}, ${digest}`;
}

/** Says the size and the digest of an image: whoever asks can check that it is the right one. */
export const digestTool: Tool = defineTool({
  name: 'digest_tool',
  description: 'Says the size and the digest of an image.',
  parameters: { image_index: imageIndex, ticket },
  example: {},
  isDeterministic: true,
  async run({ image_index = 0 }, context) {
    const image = imageAt(context, image_index);
    return 'kind' in image ? image : says(`${digestText(image)}\n`);
  },
});

/** Shows an image as it is. */
export const showTool: Tool = defineTool({
  name: 'show_tool',
  description: 'Shows an image as it is.',
  parameters: { image_index: imageIndex, ticket },
  example: {},
  isDeterministic: true,
  async run({ image_index = 0 }, context) {
    const image = imageAt(context, image_index);
    return 'kind' in image ? image : says('', image);
  },
});

/** Seconds that a piece of work takes on the simulated device, however many calls it has. */
const FIXED_MS = 40;
const EACH_MS = 2;

/**
 * Stands for a network on a GPU, whose time hardly depends on how many images it looks at: a piece of
 * work takes 40 ms and 2 ms for each call. It waits and computes nothing.
 */
export const deviceTool: Tool = defineTool({
  name: 'device_tool',
  description: 'Says the size of an image, after as long as a network on a device would take.',
  parameters: { image_index: imageIndex, ticket },
  example: {},
  run: async (given, context) => {
    await wait(FIXED_MS + EACH_MS);
    return sizeOf(given, context);
  },
  runBatch: async (calls) => {
    await wait(FIXED_MS + EACH_MS * calls.length);
    return calls.map(({ given, context }) => sizeOf(given, context));
  },
});

function sizeOf(
  { image_index = 0 }: { readonly image_index?: number | undefined },
  context: ToolContext,
): Outcome {
  const image = imageAt(context, image_index);
  return 'kind' in image ? image : says(`${image.width}×${image.height}\n`);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
