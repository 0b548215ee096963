/** The tool by which a client gives the images that the others work on. */
import { readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import type { Outcome } from '@saccade/sandbox';
import { defineTool, refused, type Tool } from '@saccade/tools';
import { z } from 'zod';
import { imageLimits, type ReadImage, readBase64Image, readImage } from '../read-image.ts';

export const ADD_IMAGE = 'add_image';

/**
 * @param folder images below it may be named by their path; without one, no file is read
 */
export function addImageTool(folder?: string): Tool {
  const about = 'Adds an image to this session: the other tools work on it by its index.';
  if (folder === undefined) {
    return defineTool({
      name: ADD_IMAGE,
      description: about,
      parameters: { data: dataArgument },
      example: { data: tinyPng },
      run: async ({ data }) => asOutcome(await readBase64Image(data)),
    });
  }
  return defineTool({
    name: ADD_IMAGE,
    description: `${about} Give data or path.`,
    parameters: {
      data: dataArgument.optional(),
      path: z
        .string()
        .min(1)
        .max(4096)
        .optional()
        .describe('A file, relative to the folder that this server shares.'),
    },
    example: { data: tinyPng },
    async run({ data, path }) {
      if (data !== undefined && path === undefined) return asOutcome(await readBase64Image(data));
      if (path !== undefined && data === undefined)
        return asOutcome(await readShared(folder, path));
      return refused('BadArgument', 'Give either data or path.');
    },
  });
}

const tinyPng =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const dataArgument = z
  .string()
  .min(1)
  .describe('PNG, JPEG, WebP or GIF in base64, also as a data URL.');

/** A file below the folder, wherever links in its path lead. */
async function readShared(folder: string, path: string): Promise<ReadImage> {
  try {
    const root = await realpath(folder);
    const file = await realpath(resolve(root, path));
    const inside = relative(root, file);
    const found = await stat(file);
    // One answer for all of it: whether a file exists elsewhere is nobody's business.
    if (inside.startsWith('..') || isAbsolute(inside) || !found.isFile()) return noFile;
    if (found.size > imageLimits.maxBytes) {
      return { problem: `it has more than ${imageLimits.maxBytes} bytes` };
    }
    return await readImage(await readFile(file));
  } catch {
    return noFile;
  }
}

const noFile: ReadImage = {
  problem: 'there is no such file in the folder that this server shares',
};

function asOutcome(image: ReadImage): Outcome {
  if ('problem' in image)
    return refused('BadArgument', `The image cannot be used: ${image.problem}.`);
  const measured = { wallMs: 0, cpuMs: 0, maxRssKb: 0, tier: 'none' };
  return { kind: 'ok', stdout: '', stderr: '', images: [image], truncated: [], ...measured };
}
