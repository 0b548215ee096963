import type { ModelImage, PackedBatch, Processor } from '@saccade/policy';
import { type Trajectory, TrajectoryBuilder, trajectoryFromMessages } from '@saccade/trajectory';
import { array, assert, asyncProperty, boolean, constantFrom, integer, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ModelImages } from './model-images.ts';
import { type MicroBatch, type PackItem, packTrajectories } from './pack.ts';

const processor: Pick<Processor, 'prepareImage'> = {
  async prepareImage(encoded): Promise<ModelImage> {
    const tokenCount = encoded.length;
    const patches = Float32Array.from(encoded);
    return { patches, gridHeight: 1, gridWidth: 1, tokenCount, width: 1, height: 1 };
  },
};

function images(): ModelImages {
  return new ModelImages(processor as Processor);
}

interface Shape {
  readonly task: string;
  readonly turns: readonly {
    readonly model: readonly number[];
    readonly seen: readonly number[];
  }[];
  readonly hasImage: boolean;
}

const tokens = array(integer({ min: 3, max: 50 }), { minLength: 1, maxLength: 4 });
const shape = record<Shape>({
  task: constantFrom('a', 'b', 'c'),
  turns: array(record({ model: tokens, seen: tokens }), { maxLength: 3 }),
  hasImage: boolean(),
});

function imageNamed(name: string, value: number) {
  const png = Uint8Array.of(value, value);
  return { name, png, width: 1, height: 1, modelWidth: 1, modelHeight: 1, tokenCount: 2 };
}

/** The prompt is made of the task alone; tasks have prompts of different lengths. */
function trajectoryOf({ task, turns, hasImage }: Shape, index: number): Trajectory {
  const made = new TrajectoryBuilder({ id: `${task}/${index}`, taskId: task, sampleIndex: index });
  const code = task.charCodeAt(0);
  const prompt = Int32Array.from([1, 1, ...new Array<number>(code - 95).fill(code)]);
  made.prompt({ tokens: prompt, images: [imageNamed('image_clue_0', code)], text: task });
  turns.forEach(({ model, seen }, turn) => {
    const logprobs = Float32Array.from(model, (_, i) => -(index + 1) - turn / 8 - i / 64);
    made.model({ tokens: Int32Array.from(model), logprobs, text: '', policyVersion: 0 });
    made.turn({ kind: 'code', code: '' });
    if (turn === turns.length - 1) return;
    const images = hasImage ? [imageNamed(`image_clue_${turn + 1}`, turn)] : [];
    const given = Int32Array.from(hasImage ? [1, 1, ...seen] : seen);
    made.observation({ tokens: given, images: images, text: '' });
  });
  return made.finish('lengthLimit');
}

function itemsOf(shapes: readonly Shape[]): PackItem[] {
  return shapes.map((one, index) => ({ trajectory: trajectoryOf(one, index) }));
}

/** For every scored token: whose it is, all tokens and images before it, and the token itself. */
function scoredIn(micro: MicroBatch): string[] {
  const { segments, rows, targets } = micro.packed;
  const starts: number[] = [];
  let total = 0;
  for (const segment of segments) {
    starts.push(total);
    total += segment.tokens.length;
  }
  expect(micro.tokenCount).toBe(total);
  const contextOf = (row: number): { tokens: number[]; pixels: number[] } => {
    let at = starts.findLastIndex((start) => start <= row);
    const own = segments[at];
    let context = [...(own?.tokens.slice(0, row - (starts[at] ?? 0) + 1) ?? [])];
    let pixels = own?.images.map((image) => image.patches[0] ?? -1) ?? [];
    while ((segments[at]?.parent ?? -1) >= 0) {
      at = segments[at]?.parent ?? -1;
      const parent = segments[at];
      context = [...(parent?.tokens ?? []), ...context];
      pixels = [...(parent?.images.map((image) => image.patches[0] ?? -1) ?? []), ...pixels];
    }
    // Images whose placeholders come later are not before the token.
    const placeholders = context.filter((token) => token === 1).length;
    return { tokens: context, pixels: pixels.slice(0, placeholders / 2) };
  };
  return [...micro.itemIndices].flatMap((item, s) => {
    const [start = 0, end = 0] = micro.sequenceOffsets.slice(s, s + 2);
    return Array.from({ length: end - start }, (_, i) => {
      const t = start + i;
      return JSON.stringify([item, contextOf(rows[t] ?? -1), targets[t]]);
    });
  });
}

/** The same list straight from the ledgers. */
function scoredInLedger(items: readonly PackItem[]): string[] {
  return items.flatMap(({ trajectory, isMasked }, index) => {
    const before: number[] = [];
    const pixels: number[] = [];
    return trajectory.segments.flatMap((segment) => {
      pixels.push(...segment.images.map((image) => image.png[0] ?? -1));
      return [...segment.tokens].flatMap((token) => {
        const context = { tokens: [...before], pixels: [...pixels] };
        before.push(token);
        if (segment.kind !== 'model' || isMasked) return [];
        return [JSON.stringify([index, context, token])];
      });
    });
  });
}

async function pack(items: readonly PackItem[], maxTokens: number, sharedPrefix: boolean) {
  return packTrajectories(items, { images: images(), maxTokens, sharedPrefix });
}

describe('packTrajectories', () => {
  it('scores every model token once, in its own context, shared or repeated, however split', async () => {
    const property = asyncProperty(
      array(shape, { maxLength: 10 }),
      integer({ min: 1, max: 120 }),
      boolean(),
      async (shapes, maxTokens, sharedPrefix) => {
        const items = itemsOf(shapes);
        const { microBatches, counts, skipped } = await pack(items, maxTokens, sharedPrefix);
        const expected = scoredInLedger(items);
        expect(microBatches.flatMap(scoredIn).sort()).toEqual(expected.sort());
        expect(counts.tokens).toBe(expected.length);
        expect(counts.sequences + skipped.length).toBe(items.length);
        for (const { tokenCount, itemIndices } of microBatches) {
          expect(tokenCount <= maxTokens || itemIndices.length === 1).toBe(true);
        }
      },
    );
    await assert(property, { numRuns: 200 });
  });

  it('lists segments in depth-first pre-order', async () => {
    const property = asyncProperty(array(shape, { maxLength: 8 }), async (shapes) => {
      const { microBatches } = await pack(itemsOf(shapes), 60, true);
      for (const { packed } of microBatches) expect(isPreOrder(packed)).toBe(true);
    });
    await assert(property, { numRuns: 60 });
  });

  it('changes no target and no row when observation tokens change', async () => {
    const property = asyncProperty(
      array(shape, { minLength: 1, maxLength: 6 }),
      integer({ min: 1, max: 40 }),
      boolean(),
      async (shapes, shift, sharedPrefix) => {
        const other = shapes.map((one) => ({
          ...one,
          turns: one.turns.map((turn) => ({ ...turn, seen: turn.seen.map((t) => t + shift) })),
        }));
        const [packing, changed] = await Promise.all([
          pack(itemsOf(shapes), 100, sharedPrefix),
          pack(itemsOf(other), 100, sharedPrefix),
        ]);
        const scored = (one: MicroBatch) => ({ ...one, packed: { ...one.packed, segments: [] } });
        expect(changed.microBatches.map(scored)).toEqual(packing.microBatches.map(scored));
        expect(changed.counts).toEqual(packing.counts);
      },
    );
    await assert(property, { numRuns: 60 });
  });

  const one = {
    task: 'a',
    turns: [
      { model: [5, 6], seen: [7] },
      { model: [8], seen: [9] },
    ],
  };

  it('computes a prompt once per group, and predicts every first token from its last', async () => {
    const items = itemsOf([1, 2, 3].map(() => ({ ...one, hasImage: false })));
    const { microBatches } = await pack(items, 100, true);
    const [micro] = microBatches;
    // Worked by hand: a prompt of 4 tokens, then 5 6 | 7 | 8 for each of the three.
    expect(micro?.packed.segments.map((segment) => segment.parent)).toEqual([-1, 0, 0, 0]);
    expect([...(micro?.packed.rows ?? [])]).toEqual([3, 4, 6, 3, 8, 10, 3, 12, 14]);
    expect([...(micro?.packed.targets ?? [])]).toEqual([5, 6, 8, 5, 6, 8, 5, 6, 8]);
    expect([...(micro?.sequenceOffsets ?? [])]).toEqual([0, 3, 6, 9]);
    expect(micro?.tokenCount).toBe(16);
    const repeated = await pack(items, 100, false);
    expect(repeated.microBatches[0]?.tokenCount).toBe(24);
    expect([...(repeated.microBatches[0]?.packed.rows ?? [])]).toEqual([
      3, 4, 6, 11, 12, 14, 19, 20, 22,
    ]);
  });

  it('keeps a group together that fits, although the open micro-batch has room for a part', async () => {
    const tasks = ['a', 'b', 'b', 'a'];
    const items = itemsOf(tasks.map((task) => ({ ...one, task, hasImage: false })));
    const { microBatches } = await pack(items, 20, true);
    expect(microBatches.map((micro) => [...micro.itemIndices])).toEqual([
      [0, 3],
      [1, 2],
    ]);
  });

  it('leaves out what is masked or has no model token, and does not count it', async () => {
    const shapes = [one, { task: 'a', turns: [] }, one].map((s) => ({ ...s, hasImage: false }));
    const items = itemsOf(shapes).map((item, index) => ({ ...item, isMasked: index === 0 }));
    const { microBatches, counts, skipped } = await pack(items, 100, true);
    expect(skipped).toEqual([0, 1]);
    expect(counts).toEqual({ tokens: 3, sequences: 1 });
    expect(microBatches.map((micro) => [...micro.itemIndices])).toEqual([[2]]);
    expect(await pack([], 100, true)).toMatchObject({ microBatches: [], skipped: [] });
  });

  it('does not share the prompt of two tasks that only share their name', async () => {
    const [a, b] = itemsOf([one, one].map((s) => ({ ...s, hasImage: false })));
    const [prompt, ...rest] = b?.trajectory.segments ?? [];
    if (!a || !b || !prompt) throw new Error('two items were made');
    const changed = { ...prompt, images: [imageNamed('image_clue_0', 99)] };
    const other = { ...b, trajectory: { ...b.trajectory, segments: [changed, ...rest] } };
    const { microBatches } = await pack([a, other], 100, true);
    const parents = microBatches[0]?.packed.segments.map((segment) => segment.parent);
    expect(parents).toEqual([-1, 0, -1, 2]);
  });

  it('refuses a budget without room for a token', async () => {
    await expect(pack([], 0, true)).rejects.toThrow(/maxTokens must be at least 1/);
  });
});

function isPreOrder(packed: PackedBatch): boolean {
  const path: number[] = [];
  return packed.segments.every(({ parent }, index) => {
    while (path.length > 0 && path.at(-1) !== parent) path.pop();
    const isFound = parent === -1 ? path.length === 0 : path.at(-1) === parent;
    path.push(index);
    return isFound;
  });
}

it('refuses what was made from text: nobody sampled its tokens', async () => {
  const trajectory = trajectoryFromMessages([
    { role: 'user', content: 'Q' },
    { role: 'assistant', content: 'A' },
  ]);
  const packing = packTrajectories([{ trajectory }], { images: images(), maxTokens: 100 });
  await expect(packing).rejects.toThrow(/Trajectory task\/0 was made from text, not sampled/);
});
