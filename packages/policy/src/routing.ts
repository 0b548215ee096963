/** The experts that tokens went to: those a batch replays, and those a pass records. */
import { expectLength } from '@saccade/core';
import type { PackedBatch } from './batch.ts';
import type { Routing } from './models/language-model.ts';

/** Experts by layer, as they are read from the device. */
export type ExpertRecord = Map<number, Promise<ArrayLike<number>>>;

/**
 * How rows are routed: tokens of segments that bring experts go to those, the others where the router
 * says.
 *
 * @param record  receives the experts of every layer that has some
 */
export function routingOf({ segments }: PackedBatch, record: ExpertRecord | undefined): Routing {
  const tokenCount = segments.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return {
    given(layer) {
      const some = segments.find(({ experts }) => experts?.has(layer));
      const first = some?.experts?.get(layer);
      if (some === undefined || first === undefined) return undefined;
      const perToken = Math.ceil(first.length / Math.max(1, some.tokens.length));
      const given = new Int32Array(tokenCount * perToken).fill(-1);
      let start = 0;
      for (const { tokens, experts } of segments) {
        const own = experts?.get(layer);
        if (own !== undefined) {
          expectLength(`experts of layer ${layer}`, own.length, tokens.length * perToken);
          given.set(own, start * perToken);
        }
        start += tokens.length;
      }
      return given;
    },
    // The tensor is freed with the pass; a reading that has begun is safe.
    chosen: (layer, experts) => record?.set(layer, experts.read()),
  };
}

/** The experts of a record, on the host. */
export async function readExperts(record: ExpertRecord): Promise<ReadonlyMap<number, Int32Array>> {
  const layers = [...record].sort(([a], [b]) => a - b);
  return new Map(
    await Promise.all(
      layers.map(async ([layer, experts]) => [layer, Int32Array.from(await experts)] as const),
    ),
  );
}
