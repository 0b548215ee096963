/** Small requests to a scratch model, from which the meaning of a server's numbers follows. */
import { randomAt } from '@saccade/core';
import type { ModelImage, PackedBatch } from '@saccade/policy';
import {
  type AdamParams,
  type DatumInput,
  plainAdam,
  type TinkerModel,
} from '../client/tinker-model.ts';
import { forestRequest } from '../remote/forest-request.ts';
import type { NamedLoss } from '../wire/schemas.ts';
import { TinkerError } from '../wire/tinker-error.ts';

/** How gradients are given to a server: by the extension, or by a loss that it names. */
export type Channel = 'backward' | 'cross_entropy' | 'importance_sampling';

/** A row of tokens whose log-probs are probed. */
export interface ProbeRow {
  /** [T] */
  readonly tokens: Int32Array;
  /** [T] */
  readonly targets: Int32Array;
}

/** Makes rows of tokens from a seed; the first tokens of one are those of every other. */
export function probeRow(seed: number, length: number, vocabulary: number): ProbeRow {
  const random = randomAt(seed, 'probe');
  // Low ids are text in every tokenizer; control tokens come last.
  const all = Int32Array.from({ length: length + 1 }, () =>
    random.integer(Math.min(vocabulary, 250)),
  );
  return { tokens: all.subarray(0, length), targets: all.slice(1) };
}

export class Probe {
  readonly model: TinkerModel;

  constructor(model: TinkerModel) {
    this.model = model;
  }

  /** Log-probs of a row's targets, nats. */
  async logprobs(row: ProbeRow, channel: Channel, temperature = 1): Promise<Float32Array> {
    if (channel === 'backward') {
      return (await this.model.forwardForest(forestRequest(batchOf(row), { temperature })))
        .logprobs;
    }
    const [logprobs] = await this.model.forward([datumOf(row, { weights: ones(row) })]);
    return logprobs as Float32Array;
  }

  /** Accumulates Σ c·∂logprob/∂θ in one request: c for each row. */
  async ascend(rows: readonly (readonly [ProbeRow, Float32Array])[], channel: Channel) {
    if (channel === 'backward') {
      for (const [row, c] of rows) {
        const request = forestRequest(batchOf(row), { temperature: 1 });
        const { requestId } = await this.model.forwardForest(request);
        await this.model.backward(requestId, { gradLogprobs: c.map((value) => -value) });
      }
      return;
    }
    if (channel === 'cross_entropy') {
      const data = rows.map(([row, weights]) => datumOf(row, { weights }));
      await this.model.forwardBackward(data, channel);
      return;
    }
    const bare = rows.map(([row]) => datumOf(row, { weights: ones(row) }));
    const logprobs = await this.model.forward(bare);
    const data = rows.map(([row, advantages], at) =>
      datumOf(row, { advantages, logprobs: logprobs[at] as Float32Array }),
    );
    await this.model.forwardBackward(data, channel);
  }

  /** Accumulates the gradient of a loss with a name, at log-probs that differ from the policy's. */
  async named(
    loss: NamedLoss,
    row: ProbeRow,
    old: Float32Array,
    advantages: Float32Array,
    config?: Readonly<Record<string, number>>,
  ): Promise<void> {
    const data = [datumOf(row, { logprobs: old, advantages })];
    await this.model.forwardBackward(data, loss, config);
  }

  /**
   * The norm of what was accumulated. The weights stay.
   *
   * @throws TinkerError if the server does not tell
   */
  async norm(): Promise<number> {
    const { gradNorm } = await this.model.optimStep(plainAdam);
    if (gradNorm !== undefined) return gradNorm;
    throw new TinkerError('server', 'The server does not tell the norm of gradients.', {
      code: 'unfit',
      field: 'grad_norm',
    });
  }

  /** Steps by what was accumulated; gives how far a row's log-probs moved: Σ c·Δlogprob. */
  async move(
    row: ProbeRow,
    c: Float32Array,
    channel: Channel,
    adam: Partial<AdamParams>,
  ): Promise<{ readonly along: number; readonly most: number }> {
    const before = await this.logprobs(row, channel);
    await this.model.optimStep({ ...plainAdam, ...adam });
    const after = await this.logprobs(row, channel);
    const moved = after.map((logprob, i) => logprob - (before[i] as number));
    return {
      along: moved.reduce((sum, delta, i) => sum + delta * (c[i] as number), 0),
      most: Math.max(...moved.map(Math.abs)),
    };
  }
}

export function datumOf(
  { tokens, targets }: ProbeRow,
  values: Pick<DatumInput, 'weights' | 'advantages' | 'logprobs'>,
): DatumInput {
  return { chunks: [{ type: 'encoded_text', tokens: [...tokens] }], targets, ...values };
}

export function batchOf(
  { tokens, targets }: ProbeRow,
  images: readonly ModelImage[] = [],
): PackedBatch {
  const rows = Int32Array.from(targets, (_, i) => i);
  return { segments: [{ tokens, images, parent: -1 }], rows, targets };
}

function ones({ targets }: ProbeRow): Float32Array {
  return new Float32Array(targets.length).fill(1);
}
