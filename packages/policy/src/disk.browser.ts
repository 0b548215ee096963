/** In place of `disk.ts` in browsers, which have no file system. */
import { UnsupportedError } from '@saccade/core';
import type * as disk from './disk.ts';

async function refuse(directory: string, file = 'model.safetensors'): Promise<never> {
  throw new UnsupportedError(
    `A browser has no file ${file} in ${directory}. Read \`policy.parameters\` and keep them yourself.`,
  );
}

export const readJson: typeof disk.readJson = refuse;
export const readText: typeof disk.readText = refuse;
export const writeText: typeof disk.writeText = refuse;
export const hasFile: typeof disk.hasFile = () => false;
export const findDirectory: typeof disk.findDirectory = () => undefined;
export const readArrays: typeof disk.readArrays = refuse;
export const readMetadata: typeof disk.readMetadata = refuse;
export const writeArrays: typeof disk.writeArrays = refuse;
export const writeParameterFile: typeof disk.writeParameterFile = refuse;
export const loadWeights: typeof disk.loadWeights = (_, directory) => refuse(directory);
export const writeWeights: typeof disk.writeWeights = (directory) => refuse(directory);
