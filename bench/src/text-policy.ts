/** A small text-only policy with groups to sample from it: what whole steps are measured on. */
import { nativeBackend } from '@saccade/backend-native';
import { randomAt } from '@saccade/core';
import { openDevice } from '@saccade/ops';
import {
  createLocalPolicy,
  type LocalPolicy,
  nanoConfig,
  nanoSize,
  type PackedBatch,
  type PackedSegment,
  QwenProcessor,
  qwen2_5_vl,
  qwenImageProcessor,
  type SampleResult,
  trainTokenizer,
} from '@saccade/policy';

export const PROMPTS = 16;
export const GROUP = 8;
export const PROMPT_TOKENS = 64;
export const COMPLETION_TOKENS = 64;
const VOCAB = 512;

/** The decoder of a policy. */
export interface PolicySizes {
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly intermediate: number;
}

/** By about how many parameters the decoder has. The vision tower stays small: nothing here shows images. */
export const policySizes = {
  '1m': { hidden: 128, layers: 4, heads: 4, kvHeads: 2, intermediate: 384 },
  '10m': { hidden: 384, layers: 6, heads: 6, kvHeads: 2, intermediate: 1024 },
  '100m': { hidden: 768, layers: 16, heads: 12, kvHeads: 4, intermediate: 2048 },
} as const satisfies Readonly<Record<string, PolicySizes>>;

export type PolicySize = keyof typeof policySizes;

export type Groups = readonly (readonly SampleResult[])[];

export interface PolicyOptions {
  readonly threads: number;
  readonly launches?: 'queued' | 'blocking';
  readonly size?: PolicySize;
}

export function makePolicy({ threads, launches, size = '1m' }: PolicyOptions): LocalPolicy {
  const processor = new QwenProcessor(trainTokenizer([], 263), qwenImageProcessor);
  const model = qwen2_5_vl.model({
    ...nanoConfig(VOCAB, processor.tokens, { ...nanoSize, ...policySizes[size] }),
    isTied: true,
  });
  const device = openDevice(nativeBackend({ threads, ...(launches && { launches }) }));
  return createLocalPolicy({ device, model, processor, seed: 1 });
}

/** Text tokens only: ids of markup are left out. */
export function makePrompts(round: number, count = PROMPTS): readonly Int32Array[] {
  const random = randomAt(round, 'prompts');
  return Array.from({ length: count }, () =>
    Int32Array.from({ length: PROMPT_TOKENS }, () => 16 + random.integer(VOCAB - 16)),
  );
}

/** A group of rollouts of every prompt, all at once. */
export function sampleGroups(
  policy: LocalPolicy,
  prompts: readonly Int32Array[],
  round: number,
): Promise<Groups> {
  return Promise.all(
    prompts.map((tokens, p) =>
      Promise.all(
        Array.from({ length: GROUP }, (_, g) =>
          policy.sample({
            tokens,
            images: [],
            maxTokens: COMPLETION_TOKENS,
            stop: [],
            temperature: 1,
            seed: [round, p * GROUP + g],
            conversation: `${p}/${g}`,
            sharedPrefix: { key: `${p}`, length: PROMPT_TOKENS },
            ignoreEndOfTurn: true,
          }),
        ),
      ),
    ),
  );
}

/** Each prompt once, its rollouts behind it. */
export function packGroups(prompts: readonly Int32Array[], groups: Groups): PackedBatch {
  const segments: PackedSegment[] = [];
  const rows: number[] = [];
  const targets: number[] = [];
  let packed = 0;
  prompts.forEach((tokens, p) => {
    const parent = segments.push({ tokens, parent: -1, images: [] }) - 1;
    packed += tokens.length;
    const lastPromptRow = packed - 1;
    for (const rollout of groups[p] ?? []) {
      segments.push({ tokens: rollout.tokens, parent, images: [] });
      rollout.tokens.forEach((token, i) => {
        rows.push(i === 0 ? lastPromptRow : packed + i - 1);
        targets.push(token);
      });
      packed += rollout.tokens.length;
    }
  });
  return { segments, rows: Int32Array.from(rows), targets: Int32Array.from(targets) };
}
