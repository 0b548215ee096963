/** Sizes of models that are not published: the choices that every architecture understands. */
import { ConfigError } from '@saccade/core';

/** Ids of the markup tokens around and in place of images and videos. */
export interface SpecialTokens {
  readonly imageToken: number;
  readonly visionStartToken: number;
  readonly visionEndToken: number;
  readonly videoToken: number;
}

/** The choices for a model of custom size. */
export interface ModelSize {
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly intermediate: number;
  readonly visionLayers: number;
  readonly visionHidden: number;
  readonly visionHeads: number;
  readonly visionIntermediate: number;
  /** Longest context, tokens. */
  readonly contextTokens: number;
}

/** A size with about 1.5M parameters, small enough to train on two CPU cores. */
export const nanoSize: ModelSize = {
  layers: 4,
  hidden: 128,
  heads: 4,
  kvHeads: 2,
  intermediate: 384,
  visionLayers: 3,
  visionHidden: 96,
  visionHeads: 4,
  visionIntermediate: 256,
  contextTokens: 4096,
};

/** @throws ConfigError unless the heads divide the width into parts of a multiple */
export function expectHeads(
  field: string,
  { hidden, heads, multiple }: { hidden: number; heads: number; multiple: number },
): void {
  const width = hidden / heads;
  if (Number.isInteger(width) && width % multiple === 0) return;
  throw new ConfigError(
    `model.${field}`,
    `model.${field}: expected a number that divides ${hidden} into parts of a multiple of ` +
      `${multiple}, got ${heads}. Change it, or what it divides.`,
  );
}
