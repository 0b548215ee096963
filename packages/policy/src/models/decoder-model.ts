/** The part of a language model that every architecture has: its text decoder. */
import type { RotaryTable } from '@saccade/nn';
import type { LanguageModel } from './language-model.ts';
import { decodeText, finalNorm, lmHead, type TextShape } from './text-decoder.ts';

type DecoderPart = Pick<
  LanguageModel,
  | 'vocabSize'
  | 'hidden'
  | 'layers'
  | 'kvHeads'
  | 'headDim'
  | 'maxPositions'
  | 'decode'
  | 'finalNorm'
  | 'head'
>;

/**
 * The decoder's part of a model.
 *
 * @param table  the rotary angles of positions [3, N]
 */
export function decoderModel(
  shape: TextShape & { readonly maxPositions: number },
  table: (positions: Int32Array) => RotaryTable,
): DecoderPart {
  const { vocabSize, hidden, layers, kvHeads, headDim, maxPositions } = shape;
  return {
    vocabSize,
    hidden,
    layers,
    kvHeads,
    headDim,
    maxPositions,
    decode: (device, parameters, input, attend) =>
      decodeText(device, parameters, shape, input, table(input.positions), attend),
    finalNorm: (parameters, x) => finalNorm(parameters, shape, x),
    head: (parameters) => lmHead(parameters, shape),
  };
}
