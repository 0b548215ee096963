/** What a decoder layer and the head of a published model do in training and sampling. */
import { attention, attentionDecode } from '@saccade/attention';
import { linearLogprob } from '@saccade/logprob';
import { gemm, type Op, type OpCase } from '@saccade/ops';
import type { Pass } from '../prepared-case.ts';
import type { QwenSizes } from '../published-sizes.ts';
import {
  conversationsCase,
  gemmCase,
  type Heads,
  logprobCase,
  type Rollouts,
  rolloutsCase,
  sequencesCase,
} from './cases.ts';
import { logitBytes, type TableRow } from './table-row.ts';

/** How much of each is measured. */
export interface LayerShape {
  /** Tokens of a training step's products, and of its log-probs. */
  readonly tokens: number;
  readonly answerTokens: number;
  /** Tokens of a sequence of attention, a row for each. */
  readonly lengths: readonly number[];
  /** Conversations that decode together, a row for each; and the length of their caches. */
  readonly conversations: readonly number[];
  readonly cached: number;
  /** Rollouts that share the prompt of their group. */
  readonly rollouts: Rollouts;
}

/** Attention over 32,768 tokens takes two processors minutes; the table leaves it out unless asked. */
export const LAYER_SHAPE: LayerShape = {
  tokens: 1024,
  answerTokens: 256,
  lengths: [1024, 4096, 32_768],
  conversations: [1, 8, 32],
  cached: 3000,
  rollouts: { prompts: 4, members: 8, prompt: 2500, response: 500 },
};

/** The rows of a model, `model` before their titles. */
export function layerRows(
  model: string,
  { vocabulary, hidden, heads, kvHeads, intermediate }: QwenSizes,
  { tokens, answerTokens, lengths, conversations, cached, rollouts }: LayerShape,
): readonly TableRow[] {
  const shape: Heads = { H: heads, G: kvHeads, D: hidden / heads };
  const { H, G, D } = shape;
  const { prompts, members, prompt, response } = rollouts;
  const row = (what: string, op: Op, opCase: OpCase, passes: readonly Pass[]): TableRow => ({
    title: `${model}, ${what}`,
    job: { op, opCase, passes },
  });
  const product = (what: string, M: number, N: number, K: number, ...passes: readonly Pass[]) =>
    row(`${what}, ${M}×${N}×${K}`, gemm, gemmCase({ M, N, K }), passes);
  const head = row(
    `head, log-prob of N${answerTokens}`,
    linearLogprob,
    logprobCase({ N: answerTokens, D: hidden, V: vocabulary }, ['logprobs']),
    ['forward', 'both'],
  );
  return [
    product('query', tokens, H * D, hidden, 'forward', 'backward'),
    product('key', tokens, G * D, hidden, 'forward', 'backward'),
    product('gate or up', tokens, intermediate, hidden, 'forward', 'backward'),
    product('down', tokens, hidden, intermediate, 'forward', 'backward'),
    ...lengths.map((length) =>
      row(
        `attention, causal, S${length}`,
        attention,
        sequencesCase({ sequences: 1, length }, shape),
        ['forward', 'backward'],
      ),
    ),
    { ...head, avoidedBytes: logitBytes },
    ...conversations.map((M) => product('decode: gate or up', M, intermediate, hidden, 'forward')),
    ...conversations.map((count) =>
      row(
        `decode: attention, B${count} S${cached}`,
        attentionDecode,
        conversationsCase({ conversations: count, length: cached }, shape),
        ['forward'],
      ),
    ),
    row(
      `decode: attention, ${prompts}×${members} rollouts of S${prompt + response}, prompts shared`,
      attentionDecode,
      rolloutsCase(rollouts, shape),
      ['forward'],
    ),
  ];
}
