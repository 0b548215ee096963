/** What a policy of ours computes of a context, part by part, for a comparison. */
import { observingBlocks } from '@saccade/nn';
import {
  asyncScope,
  attention,
  gatherRows,
  linearLogprob,
  Tape,
  type Tensor,
  tensor,
} from '@saccade/tensor';
import type { EncodedContent } from '../content.ts';
import type { LocalPolicy } from '../local-policy.ts';
import { featuresOf } from '../models/language-model.ts';
import { partOf } from '../models/model-parts.ts';

/** Values by part: `positions`, `vision.0`, `features.0`, `language.0`, `final`, `logprobs`, `grad.…`. */
export type ValuesByPart = Map<string, Float32Array>;

/** What is computed of a context. */
interface Forward {
  readonly blocks: ReadonlyMap<string, Tensor>;
  readonly features: readonly Tensor[];
  readonly final: Tensor;
  /** [T − 1] of every token but the first. */
  readonly logprobs: Tensor;
  readonly positions: Int32Array;
}

/**
 * The parts of a forward, and with `weights` [T − 1] the gradient of the log-probs' weighted sum for
 * every tensor.
 *
 * @param blockNames  receives the name of each block under its key, such as `language.3`
 */
export async function ownValues(
  policy: LocalPolicy,
  context: EncodedContent,
  weights: Float32Array | undefined,
  blockNames: Map<string, string>,
): Promise<ValuesByPart> {
  const values: ValuesByPart = new Map();
  await asyncScope(async (inner) => {
    const made = inner.run(() => forward(policy, context, blockNames));
    values.set('positions', Float32Array.from(made.positions));
    for (const [key, hidden] of made.blocks) values.set(key, await floats(hidden));
    for (const [level, one] of made.features.entries()) {
      values.set(`features.${level}`, await floats(one));
    }
    values.set('final', await floats(made.final));
    values.set('logprobs', await floats(made.logprobs));
  });
  if (weights === undefined) return values;
  const { parameters, device } = policy;
  const names = Object.keys(parameters);
  const tape = new Tape(
    names.map((name) => parameters[name] as Tensor),
    { recompute: true },
  );
  const { logprobs } = tape.run(() => forward(policy, context, new Map()));
  const seed = tensor(device, 'f32', [weights.length], weights);
  const gradients = tape.backward([[logprobs, seed]]);
  tape.dispose();
  seed.dispose();
  for (const [i, name] of names.entries()) {
    const gradient = gradients[i];
    if (gradient === undefined) continue;
    values.set(`grad.${name}`, await floats(gradient));
    gradient.dispose();
  }
  return values;
}

function forward(
  { device, model, parameters }: LocalPolicy,
  { tokens, images }: EncodedContent,
  blockNames: Map<string, string>,
): Forward {
  const blocks = new Map<string, Tensor>();
  const counts = { language: 0, vision: 0 };
  const observe = (name: string, hidden: Tensor): void => {
    const part = partOf(name) === 'language' ? 'language' : 'vision';
    const key = `${part}.${counts[part]++}`;
    blocks.set(key, hidden);
    blockNames.set(key, name);
  };
  return observingBlocks(observe, () => {
    const integers = (shape: readonly number[], list: Iterable<number>) =>
      tensor(device, 'i32', shape, Int32Array.from(list));
    const features = featuresOf(model, device, parameters, images);
    const at = model.place(tokens, images, 0);
    const positions = Int32Array.from([...at.temporal, ...at.height, ...at.width]);
    const segments = integers([1, 3], [0, tokens.length, -1]);
    const input = { ids: at.ids, positions, features };
    const x = model.decode(device, parameters, input, (_, q, k, v) =>
      attention(q, k, v, segments, { isCausal: true }),
    );
    const final = model.finalNorm(parameters, x);
    const rows = integers([tokens.length - 1], tokens.slice(1).keys());
    const scored = gatherRows(final, rows);
    const targets = integers([tokens.length - 1], tokens.slice(1));
    const { logprobs } = linearLogprob(scored, model.head(parameters), targets, 1);
    return { blocks, features, final, logprobs, positions };
  });
}

async function floats(values: Tensor): Promise<Float32Array> {
  return Float32Array.from(await values.read());
}
