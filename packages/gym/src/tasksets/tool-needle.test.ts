import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import { ensurePython, type LocalSandbox, openSandbox } from '@saccade/sandbox';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Split, Task } from '../task.ts';
import type { Box } from './draw-needle.ts';
import { needle } from './needle.ts';
import { codeQuestion, type ToolNeedleFacts, toolNeedle, toolNeedleWith } from './tool-needle.ts';

const environment = join(import.meta.dirname, '../../../../.cache/sandbox-venv');

let sandbox: LocalSandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ python: (await ensurePython(environment)).python });
}, 300_000);
afterAll(() => sandbox.dispose());

const factsOf = ({ metadata }: Task) => metadata as unknown as ToolNeedleFacts;
const pngOf = ({ images }: Task) => images[0]?.png ?? new Uint8Array();

const tasksOf = (split: Split, count: number, options = {}): Promise<readonly Task[]> => {
  const set = toolNeedleWith(options);
  return Promise.all(Array.from({ length: count }, (_, i) => set.task(split, i)));
};

/** What OpenCV reads in the images, its own QR code reader as the other source. */
async function codesIn(tasks: readonly Task[]): Promise<readonly string[]> {
  const session = await sandbox.open({
    images: tasks.map((task, i) => ({ name: `image_${i}`, encoded: pngOf(task) })),
  });
  try {
    const names = tasks.map((_, i) => `image_${i}`).join(', ');
    // Its finders want modules of some pixels; these are of three.
    const { stdout, error } = await session.execute(`import cv2, numpy
reader = cv2.QRCodeDetectorAruco()
for image in [${names}]:
    large = image.convert("L").resize((2 * image.width, 2 * image.height))
    print(",".join(reader.detectAndDecodeMulti(numpy.asarray(large))[1]))`);
    expect(error).toBeUndefined();
    return stdout.trim().split('\n');
  } finally {
    await session.dispose();
  }
}

describe('tool-needle', () => {
  it.each(['train', 'heldOut'] as const)(
    'asks in %s for the number that OpenCV reads in the code',
    async (split) => {
      const tasks = await tasksOf(split, 16, { codeShare: 1 });
      expect(tasks.map(({ question }) => question)).toEqual(tasks.map(() => codeQuestion));
      expect(await codesIn(tasks)).toEqual(tasks.map(({ answer }) => answer));
      for (const { answer } of tasks) expect(answer).toMatch(/^[1-9]\d\d$/);
    },
    60_000,
  );

  it('asks for the digit of needle on the same card, with a code on an empty cell', async () => {
    const tasks = await tasksOf('train', 8, { codeShare: 0, turnedShare: 0 });
    for (const [index, task] of tasks.entries()) {
      const plain = await needle.task('train', index);
      const { box, decoys, codeBox, kind, ...rest } = factsOf(task);
      expect([task.question, task.answer]).toEqual([plain.question, plain.answer]);
      expect({ box, decoys }).toMatchObject({
        box: plain.metadata.box,
        decoys: plain.metadata.decoys,
      });
      expect(rest).toMatchObject({
        difficulty: 'hard',
        requiredTools: ['crop'],
        helpfulTools: ['image_zoom_in_tool'],
        needsSearch: true,
        cardBox: box,
      });
      for (const card of [box, ...decoys]) {
        expect(overlap(card, codeBox)).toBe(0);
        expect(await cut(task, card)).toEqual(await cut(plain, card));
      }
      expect(kind).toBe('digit');
    }
  });

  it('turns tables as turned-needle does, and says which tools help', async () => {
    const tasks = await tasksOf('train', 12, { codeShare: 0, turnedShare: 1 });
    for (const task of tasks) {
      const { turn, difficulty, requiredTools, helpfulTools } = factsOf(task);
      expect([difficulty, ...requiredTools]).toEqual(['turned', turn, 'crop']);
      expect(helpfulTools).toHaveLength(3);
    }
    expect(new Set(tasks.map((task) => factsOf(task).turn)).size).toBeGreaterThan(2);
  });

  it('is the table of needle again after the required turn', async () => {
    const tasks = await tasksOf('train', 10, { codeShare: 0, turnedShare: 1 });
    for (const [index, task] of tasks.entries()) {
      const { turn, cardBox } = factsOf(task);
      const image = sharp(pngOf(task));
      const [what, how] = (turn ?? '').split('_');
      // sharp turns clockwise.
      if (what === 'rotate') image.rotate(360 - Number(how));
      else if (how === 'horizontal') image.flop();
      else image.flip();
      const upright = {
        ...task,
        images: [{ ...task.images[0], png: await image.png().toBuffer() }],
      };
      const plain = await needle.task('train', index);
      expect(await cut(upright as Task, cardBox), turn).toBe(await cut(plain, cardBox));
    }
  });

  it('asks in the shares that its settings say', async () => {
    const tasks = await tasksOf('train', 200);
    const share = (difficulty: string) =>
      tasks.filter((task) => factsOf(task).difficulty === difficulty).length / tasks.length;
    // Four standard deviations of shares of 200.
    expect(Math.abs(share('easy') - 0.35)).toBeLessThan(0.135);
    expect(Math.abs(share('hard') - 0.325)).toBeLessThan(0.133);
    expect(Math.abs(share('turned') - 0.325)).toBeLessThan(0.133);
    for (const task of tasks) {
      const { kind, box, codeBox, cardBox, requiredTools } = factsOf(task);
      expect(box).toEqual(kind === 'code' ? codeBox : cardBox);
      if (kind === 'code') expect(requiredTools).toEqual(['read_code']);
    }
  });

  it('has numbers in its codes that the other split never has', async () => {
    const options = { codeShare: 1 };
    const [seen, held] = [
      await tasksOf('train', 150, options),
      await tasksOf('heldOut', 60, options),
    ];
    const numbers = new Set(seen.map(({ answer }) => answer));
    expect(numbers.size).toBeGreaterThan(100);
    expect(held.filter(({ answer }) => numbers.has(answer))).toEqual([]);
  });

  it('refuses cells in which no code has room', () => {
    expect(() => toolNeedle.with({ pitch: 80 })).toThrow(ConfigError);
    expect(() => toolNeedle.with({ pitch: 80 })).toThrow(/pitch: expected at least 87/);
  });
});

function overlap([l, t, r, b]: Box, [left, top, right, bottom]: Box): number {
  const width = Math.max(0, Math.min(r, right) - Math.max(l, left));
  return width * Math.max(0, Math.min(b, bottom) - Math.max(t, top));
}

async function cut(task: Task, [left, top, right, bottom]: Box): Promise<string> {
  const box = { left, top, width: right - left, height: bottom - top };
  return (await sharp(pngOf(task)).extract(box).raw().toBuffer()).toString('hex');
}
