/** Forests: the same as rows, images once, strange tokens as text, temperatures. */
import { randomAt } from '@saccade/core';
import type { PackedBatch } from '@saccade/policy';
import { imageBatch, imageTokenOf, scoreBatch, withWrongCount } from '../../measure/images.ts';
import { batchOf, Probe, probeRow } from '../../measure/probe.ts';
import { forestRequest } from '../../remote/forest-request.ts';
import { linearData, plainPath } from '../../remote/gradient-path.ts';
import { gathered, pathData, spread } from '../../remote/path-data.ts';
import {
  type ConformanceCheck,
  type ConformanceContext,
  ConformanceError,
  expectAtMost,
  expectRefused,
  expectThat,
  largestDifference,
} from '../conformance-check.ts';

/** A prompt, with an image where the model takes any, and children that share it. */
async function forestOf({ processor, vocabulary }: ConformanceContext): Promise<PackedBatch> {
  const random = randomAt(7, 'forest');
  const hasImages = processor.imageToken !== undefined;
  const prompt = hasImages
    ? (await imageBatch(processor, 3)).batch.segments[0]
    : { tokens: probeRow(3, 12, vocabulary).tokens, images: [] };
  const { tokens = new Int32Array(), images = [] } = prompt ?? {};
  // A tree, not only a group: the second child continues the first one.
  const children = [0, 1, 0].map((parent) => {
    const own = Int32Array.from({ length: 4 }, () => random.integer(Math.min(250, vocabulary)));
    return { tokens: own, parent, images: [] };
  });
  const rows: number[] = [];
  const targets: number[] = [];
  // Every token of the children in depth-first order.
  let at = tokens.length;
  const ends = [tokens.length - 1];
  children.forEach((segment, i) => {
    segment.tokens.forEach((target, position) => {
      rows.push(position === 0 ? (ends[segment.parent] as number) : at + position - 1);
      targets.push(target);
    });
    at += segment.tokens.length;
    ends[i + 1] = at - 1;
  });
  const segments = [{ tokens, images, parent: -1 }, ...children];
  return { segments, rows: Int32Array.from(rows), targets: Int32Array.from(targets) };
}

export const forestsAreRows: ConformanceCheck = {
  number: 8,
  name: 'a packed forest has the log-probs and gradients of one row for each path',
  needs: ['extension'],
  async run(context) {
    const { withModel, processor, bounds } = context;
    return await withModel(async (model) => {
      const probe = new Probe(model);
      const batch = await forestOf(context);
      const request = forestRequest(batch, { temperature: 1 });
      const forest = await model.forwardForest(request);
      const rows = pathData(batch, processor.imageToken);
      const ones = spread(rows, () => 1);
      const plain = rows.data.map((one, i) => ({ ...one, weights: ones[i] as Float32Array }));
      const logprobs = await model.forward(plain);
      const nats = largestDifference(forest.logprobs, gathered(rows, logprobs));
      const said = expectAtMost('log-probs differ by', nats, bounds.logprob);
      const gradient = forest.logprobs.map((_, i) => 1 - 0.3 * (i % 4));
      await model.backward(forest.requestId, { gradLogprobs: gradient });
      const whole = await probe.norm();
      const again = await model.forwardForest(request);
      await model.backward(again.requestId, { gradLogprobs: gradient });
      const gradLogprobs = gradient.map((value) => -value);
      const data = linearData(plainPath, { rows, gradLogprobs, logprobs });
      await model.forwardBackward(data, 'cross_entropy');
      const relative = (await probe.norm()) / whole;
      return `${said}; ${expectAtMost('gradients by', relative, bounds.gradient)}`;
    });
  },
};

export const imagesMatter: ConformanceCheck = {
  number: 10,
  name: 'another image changes the log-probs after it and none before; wrong counts are refused',
  needs: ['images'],
  async run({ withModel, processor, client }) {
    return await withModel(async (model) => {
      const one = await imageBatch(processor, 1);
      const other = await imageBatch(processor, 2);
      const score = (batch: PackedBatch) => scoreBatch(model, processor, batch, client.isOurs);
      const [a, b] = [await score(one.batch), await score(other.batch)];
      const { first } = one;
      const before = largestDifference(a.subarray(0, first), b.subarray(0, first));
      const after = largestDifference(a.subarray(first), b.subarray(first));
      expectAtMost('log-probs before the image moved', before, 0);
      expectThat('A difference after the image', after > 0);
      await expectRefused('a wrong expected_tokens', () => score(withWrongCount(one.batch)));
      return `log-probs after it moved ${after.toPrecision(3)}, before it ${before}`;
    });
  },
};

export const strangeTokens: ConformanceCheck = {
  number: 11,
  name: 'a sampled placeholder or marker of images is scored as text',
  needs: ['extension', 'images'],
  async run({ withModel, processor }) {
    return await withModel(async (model) => {
      const { batch } = await imageBatch(processor, 1);
      const [prompt] = batch.segments;
      if (prompt === undefined) throw new ConformanceError('There is no prompt.');
      const imageToken = imageTokenOf(processor);
      const begin = prompt.tokens[prompt.tokens.indexOf(imageToken) - 1] as number;
      const child = (strange: number) => {
        const tokens = Int32Array.of(65, 66, strange, 67);
        const first = prompt.tokens.length;
        return {
          segments: [prompt, { tokens, parent: 0, images: [] }],
          rows: Int32Array.of(first - 1, first, first + 1, first + 2),
          targets: tokens,
        };
      };
      const plain = await scoreBatch(model, processor, child(68), true);
      for (const strange of [imageToken, begin]) {
        const scored = await scoreBatch(model, processor, child(strange), true);
        expectThat('Finite log-probs', scored.every(Number.isFinite));
        const before = largestDifference(scored.subarray(0, 2), plain.subarray(0, 2));
        expectAtMost('log-probs before it moved', before, 0);
      }
      return 'scored, and what comes before it is as it was';
    });
  },
};

export const temperatures: ConformanceCheck = {
  number: 18,
  name: 'log-probs at a temperature are those of logits divided by it',
  needs: ['extension'],
  async run({ withModel, vocabulary, bounds }) {
    return await withModel(async (model) => {
      const { tokens } = probeRow(4, 6, vocabulary);
      const targets = Int32Array.from(
        { length: 8 },
        (_, i) => (i * 31) % Math.min(250, vocabulary),
      );
      const batch = { ...batchOf({ tokens, targets }), rows: targets.map(() => 5), targets };
      const at = async (temperature: number) =>
        (await model.forwardForest(forestRequest(batch, { temperature }))).logprobs;
      const one = await at(1);
      let most = 0;
      for (const temperature of [0.5, 2]) {
        const scored = await at(temperature);
        // Differences know nothing of the normalization: (a₁ − b₁) / T = a_T − b_T.
        const want = one.map((logprob) => (logprob - (one[0] as number)) / temperature);
        const got = scored.map((logprob) => logprob - (scored[0] as number));
        most = Math.max(most, largestDifference(got, want));
        expectThat(
          'Log-probs below 0',
          scored.every((logprob) => logprob <= 0),
        );
      }
      return expectAtMost('differences of log-probs differ by', most, 10 * bounds.logprob);
    });
  },
};
