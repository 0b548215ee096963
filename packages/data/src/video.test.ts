/** Demonstrations of `card-video` in the real sandbox, and readings of its clips. */
import { join } from 'node:path';
import { randomAt } from '@saccade/core';
import {
  type CardVideoFacts,
  cardVideoQuestion,
  createToolEnv,
  drawCardClip,
  pyvisionVideoShort,
  taskSets,
} from '@saccade/gym';
import { QwenProcessor, qwenImageProcessor, trainTokenizer } from '@saccade/policy';
import { ModelImages } from '@saccade/rollout';
import { ensurePython, type LocalSandbox, openSandbox } from '@saccade/sandbox';
import { countToolCalls, type Trajectory, trajectoryViolations } from '@saccade/trajectory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemonstrationMix, tourMix } from './behavior.ts';
import { videoCorpus } from './corpus.ts';
import { demonstrate } from './demonstrations.ts';
import { videoScript } from './script.ts';
import { stripCaptions } from './strip-caption.ts';
import { planVideo } from './video-behavior.ts';
import { videoReadings } from './video-reading.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const taskSet = taskSets.get('card-video');
/** Looks until it sees the digit. */
const diligent: DemonstrationMix = { ...tourMix, answerAfterSeeing: 1, beginsAgain: false };
const processor = new QwenProcessor(trainTokenizer(videoCorpus(pyvisionVideoShort), 512), {
  ...qwenImageProcessor,
  minPixels: 28 * 28,
  maxPixels: 112 * 112,
});
const images = new ModelImages(processor);

let sandbox: LocalSandbox;
beforeAll(async () => {
  const { python } = await ensurePython(environment);
  sandbox = await openSandbox({ python });
}, 300_000);
afterAll(async () => {
  const { open } = sandbox.stats();
  await sandbox.dispose();
  expect(open).toBe(0);
});

const imagesOf = ({ segments }: Trajectory) => segments.flatMap(({ images: shown }) => shown);

/**
 * Whether a card with ink on it is in the image: blue where the table has none, and hatched in red.
 * Patches are [3 colors, 2 times, 14, 14], normalized.
 */
async function showsDigit(png: Uint8Array): Promise<boolean> {
  const { patches } = await images.prepare(png);
  const [mean, deviation] = [qwenImageProcessor.mean, qwenImageProcessor.std];
  const gray = (value: number, color: 0 | 2) => 255 * (value * deviation[color] + mean[color]);
  const reds: number[] = [];
  for (let patch = 0; patch < patches.length; patch += 6 * 196) {
    for (let at = 0; at < 196; at++) {
      if (gray(patches[patch + 4 * 196 + at] as number, 2) < 150) continue;
      reds.push(gray(patches[patch + at] as number, 0));
    }
  }
  return reds.length > 0 && Math.max(...reds) - Math.min(...reds) > 100;
}

describe('a diligent demonstration of card-video', () => {
  it('finds the digit on every clip with a strip and at most two frames', async () => {
    const strips = [0, 0, 0];
    for (let index = 0; index < 300; index++) {
      const facts = drawCardClip('train', index).facts;
      const [strip, ...frames] = planVideo(facts, diligent, randomAt(1, 'plan', index));
      const last = frames.at(-1);
      expect(strip).toBe('strip');
      expect(facts.digit[0] <= Number(last) && Number(last) < facts.digit[1]).toBe(true);
      strips[frames.length] = (strips[frames.length] ?? 0) + 1;
    }
    expect(strips[0]).toBe(0);
    // Both of the two frames are as likely: four standard deviations of a binomial count are 35.
    expect(Math.abs((strips[1] ?? 0) - 150)).toBeLessThan(36);
  });

  it('is shown what it asked for, for 16 and 4 tokens, and sees the digit last', async () => {
    const demonstrations = await demonstrate({
      taskSet,
      protocol: pyvisionVideoShort,
      makeEnv: () => createToolEnv({ protocol: pyvisionVideoShort, sandbox }),
      processor,
      images,
      script: videoScript(diligent),
      seed: 1,
      count: 12,
    });
    for (const demonstration of demonstrations) {
      expect(trajectoryViolations(demonstration)).toEqual([]);
      const [strip, ...frames] = imagesOf(demonstration);
      expect(strip).toMatchObject({ width: 448, height: 28, tokenCount: 16 });
      expect(frames).toHaveLength(countToolCalls(demonstration) - 1);
      const seen = await Promise.all(frames.map(({ png }) => showsDigit(png)));
      expect(seen).toEqual(frames.map((_, i) => i === frames.length - 1));
      for (const frame of frames) expect(frame).toMatchObject({ width: 56, tokenCount: 4 });
      // The strip shows the card in two of its images, and of the digit's ink nothing.
      expect(await showsDigit(strip?.png ?? new Uint8Array())).toBe(false);
    }
  });

  it('is a share of the mixed ones only: those look less, elsewhere, and end early', () => {
    const mix = {
      ...diligent,
      answerWithoutLooking: 0.3,
      lookAtNothing: 0.5,
      answerAfterMissing: 0.4,
    };
    const facts: CardVideoFacts = { card: [7, 19], digit: [12, 15], place: [0, 0, 28, 28] };
    const plans = Array.from({ length: 400 }, (_, i) =>
      planVideo(facts, mix, randomAt(2, 'mix', i)),
    );
    const share = (holds: (frames: readonly unknown[]) => boolean) =>
      plans.filter(holds).length / plans.length;
    expect(share((plan) => plan.length === 0)).toBeCloseTo(0.3, 1);
    expect(share((plan) => plan.length === 1)).toBeCloseTo(0.7 * 0.4, 1);
    expect(share((plan) => plan.length > 1 && plan[1] !== 14)).toBeGreaterThan(0.1);
    expect(Math.max(...plans.map(({ length }) => length))).toBeLessThanOrEqual(mix.maxLooks);
  });
});

describe('a captioned strip', () => {
  it('is of any length, has the card in it, and says a frame right after the card came', async () => {
    const captions = await stripCaptions({ processor, images, seed: 1, count: 40 });
    const widths = new Set<number>();
    for (const caption of captions) {
      expect(trajectoryViolations(caption)).toEqual([]);
      const [strip] = imagesOf(caption);
      widths.add(strip?.width ?? 0);
      expect(strip?.tokenCount).toBe((strip?.width ?? 0) / 28);
      const frame = Number(caption.segments.at(-1)?.text);
      expect([frame % 6, frame > 6, frame < 90]).toEqual([2, true, true]);
    }
    expect([...widths].sort((a, b) => a - b)).toEqual([28, 56, 112, 224, 448]);
  });
});

describe('a reading of card-video', () => {
  const read = (frames: number, count: number) =>
    videoReadings({ protocol: pyvisionVideoShort, processor, images, seed: 1, count, frames });

  it('has the digit in one of its frames at least, and the true answer', async () => {
    for (const frames of [0, 8]) {
      const readings = await read(frames, 12);
      const counts = new Set<number>();
      for (const reading of readings) {
        expect(trajectoryViolations(reading)).toEqual([]);
        const shown = imagesOf(reading);
        counts.add(shown.length);
        const seen = await Promise.all(shown.map(({ png }) => showsDigit(png)));
        expect(seen).toContain(true);
        expect(reading.segments.at(-1)?.text).toMatch(/\\boxed\{\d\}/);
        expect(reading.segments[0]?.text).toContain(cardVideoQuestion);
      }
      const possible = frames === 0 ? [1, 2, 3] : [1, 2, 4, 8];
      for (const count of counts) expect(possible).toContain(count);
      expect(counts.size).toBeGreaterThan(2);
    }
  });

  it('is the same for the same seed', async () => {
    const [first, second] = [await read(4, 4), await read(4, 4)];
    expect(first.map(({ segments }) => segments[0]?.tokens)).toEqual(
      second.map(({ segments }) => segments[0]?.tokens),
    );
  });
});
