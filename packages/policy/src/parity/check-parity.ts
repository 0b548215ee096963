/** The comparison of a policy with transformers, from the text of a conversation to greedy tokens. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NamedArray } from '@saccade/nn';
import { encode } from 'fast-png';
import type { EncodedContent } from '../content.ts';
import type { LocalPolicy } from '../local-policy.ts';
import { VISUAL } from '../models/positions.ts';
import { type ComparedPart, compareParts, isEqual, relativeDistance } from './compare-parts.ts';
import { ownValues } from './own-values.ts';
import { referenceValues } from './reference-values.ts';

/** How a policy is compared. */
export interface ParityOptions {
  /** The policy; weights as f32 to tell errors from rounding. Without an adapter. */
  readonly policy: LocalPolicy;
  /** The directory of the checkpoint that transformers loads. */
  readonly checkpoint: string;
  /** A Python with torch and transformers. */
  readonly python: string;
  readonly prompt: string;
  /** Images of the conversation, as files hold them; none for a model without vision. */
  readonly images: readonly Uint8Array[];
  /** Element type in which transformers computes. */
  readonly dtype: 'float32' | 'bfloat16';
  /** Largest relative difference that counts as equal. */
  readonly gate: number;
  /** Whether the gradient of every tensor is compared: twice the memory of the weights besides. */
  readonly gradients: boolean;
  /** Tokens to continue the conversation by. */
  readonly greedyTokens: number;
  /** Takes what is being done, for a person who waits. */
  readonly onStep?: (step: string) => void;
}

/** What a comparison found. */
export interface ParityReport {
  /** In the order of the computation: ids, pixels, positions, blocks, log-probs, gradients, tokens. */
  readonly parts: readonly ComparedPart[];
  /** The first that differs; undefined if none does. */
  readonly first: ComparedPart | undefined;
  /** Versions of transformers and torch. */
  readonly versions: string;
}

/** Pixel values differ by the rounding of the normalization. */
const PIXEL_GATE = 1e-6;

/**
 * Compares token ids, pixel values, positions, the output of every block of the vision tower and the
 * decoder, features, log-probs, the gradient of every tensor and greedy tokens with transformers. Both
 * models get our tokens and patches, so that a part that differs does not hide the next.
 *
 * @throws MissingError  if the Python cannot be run, or lacks a package
 * @throws DataError     if transformers fails on the checkpoint
 */
export async function checkParity(options: ParityOptions): Promise<ParityReport> {
  const { policy, images, prompt, gate, onStep = () => {} } = options;
  const directory = await mkdtemp(join(tmpdir(), 'saccade-parity-'));
  try {
    const context = await encodePrompt(policy, prompt, images);
    const { ids } = policy.model.place(context.tokens, context.images, 0);
    const weights = options.gradients
      ? Float32Array.from({ length: context.tokens.length - 1 }, (_, i) => Math.cos(i))
      : undefined;
    onStep('transformers: processor');
    const reference = await referenceValues(
      options.python,
      directory,
      {
        checkpoint: options.checkpoint,
        dtype: options.dtype,
        prompt,
        encoded: images,
        context,
        isPlaceholder: Array.from(ids, (id) => id === VISUAL),
        greedyTokens: options.greedyTokens,
        ...(weights && { weights }),
      },
      (step) => onStep(`transformers: ${step} done`),
    );
    onStep('own values');
    const blockNames = new Map<string, string>();
    const ours = await ownValues(policy, context, weights, blockNames);
    const parts = [
      ...compareProcessors(context, reference.processor, reference.arrays),
      ...compareParts(ours, reference.arrays, blockNames, policy.model, gate),
      await compareGreedy(policy, context, reference.greedy),
    ];
    return { parts, first: parts.find((part) => !isEqual(part)), versions: reference.versions };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function encodePrompt(
  { processor }: LocalPolicy,
  prompt: string,
  images: readonly Uint8Array[],
): Promise<EncodedContent> {
  if (images.length === 0) return encodeText(processor, prompt);
  const parts = await Promise.all(
    images.map(async (bytes) => ({
      kind: 'image' as const,
      image: await processor.prepareImage(bytes),
    })),
  );
  return processor.encodePrompt([...parts, { kind: 'text', text: prompt }]);
}

/** A text alone is a text to templates of models without vision, and no list. */
function encodeText(processor: LocalPolicy['processor'], prompt: string): EncodedContent {
  return (
    processor.encodeConversation?.([{ role: 'user', content: prompt }], {
      addGenerationPrompt: true,
    }) ?? processor.encodePrompt([{ kind: 'text', text: prompt }])
  );
}

function compareProcessors(
  { tokens, images }: EncodedContent,
  { ids, error }: { readonly ids?: readonly number[]; readonly error?: string },
  arrays: ReadonlyMap<string, NamedArray>,
): readonly ComparedPart[] {
  const what = 'token ids';
  if (ids === undefined) {
    const problem = `the checkpoint’s processor failed in Python: ${error}`;
    return [{ what, gate: 0, difference: Number.POSITIVE_INFINITY, problem }];
  }
  const place = tokens.findIndex((token, i) => token !== ids[i]);
  const isSame = place < 0 && ids.length === tokens.length;
  const text: ComparedPart = {
    what,
    gate: 0,
    difference: isSame ? 0 : Number.POSITIVE_INFINITY,
    ...(!isSame && {
      problem:
        place < 0
          ? `${tokens.length} here, ${ids.length} there`
          : `token ${place} is ${tokens[place]} here, ${ids[place]} there`,
    }),
  };
  if (images.length === 0) return [text];
  const pixels = joined(images.map(({ patches }) => patches));
  const theirs = arrays.get('pixels')?.data ?? [];
  return [
    text,
    { what: 'pixel values', gate: PIXEL_GATE, difference: relativeDistance(pixels, theirs) },
  ];
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}

async function compareGreedy(
  policy: LocalPolicy,
  { tokens, images }: EncodedContent,
  theirs: readonly number[],
): Promise<ComparedPart> {
  const conversation = 'parity';
  const { tokens: ours } = await policy.sample({
    tokens,
    images,
    maxTokens: theirs.length,
    stop: [],
    ignoreEndOfTurn: true,
    temperature: 0,
    seed: [0, 0],
    conversation,
  });
  policy.release(conversation);
  const place = theirs.findIndex((token, i) => token !== ours[i]);
  return {
    what: `${theirs.length} greedy tokens`,
    gate: 0,
    difference: place < 0 ? 0 : Number.POSITIVE_INFINITY,
    ...(place >= 0 && {
      problem: `token ${place} is ${ours[place]} here, ${theirs[place]} there`,
    }),
  };
}

/** A PNG with edges, colors and noise, for a comparison without an image of one's own. */
export function drawTestImage(width: number, height: number): Uint8Array {
  const data = new Uint8Array(width * height * 3);
  let state = 1;
  for (let y = 0, to = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      // A linear congruential generator: the same noise on every machine.
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      const noise = state >>> 27;
      data[to++] = ((x * 224) / width) | noise;
      data[to++] = ((y * 224) / height) | noise;
      data[to++] = ((x >> 4) + (y >> 4)) % 2 === 0 ? 40 + noise : 200 + noise;
    }
  }
  return encode({ width, height, data, channels: 3 });
}
