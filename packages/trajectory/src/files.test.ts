import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataError, StateError } from '@saccade/core';
import { array, assert, asyncProperty, float, integer, uint8Array } from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrajectoryBuilder } from './builder.ts';
import {
  openTrajectoryWriter,
  readTrajectories,
  readTrajectoryLines,
  writeTrajectory,
} from './files.ts';
import { isScored, type StoredTrajectory } from './json.ts';
import type { ScoredTrajectory, Trajectory, TrajectoryImage } from './trajectory.ts';

let directory = '';
let path = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'saccade-trajectory-'));
  path = join(directory, 'trajectories.jsonl');
});
afterEach(() => rm(directory, { recursive: true }));

function imageNamed(name: string, png: Uint8Array): TrajectoryImage {
  const size = { width: 640, height: 480, modelWidth: 56, modelHeight: 28, tokenCount: 2 };
  return { name, png, ...size, origin: { image: 'image_clue_0', map: [0, 1, -4, 0.5, 0, 20] } };
}

function trajectory(logprobs: readonly number[], png: Uint8Array, sampleIndex = 0): Trajectory {
  const made = new TrajectoryBuilder({ id: `t/${sampleIndex}`, taskId: 't', sampleIndex });
  made.prompt({
    tokens: Int32Array.of(1, 2, 3),
    images: [imageNamed('image_clue_0', png)],
    text: 'line\nbreak \u2028 "quoted"',
  });
  made.model({
    tokens: Int32Array.from(logprobs, (_, index) => index),
    logprobs: Float32Array.from(logprobs),
    text: 'a',
    policyVersion: 2,
  });
  made.turn(
    { kind: 'code', code: 'f()' },
    {
      kind: 'exception',
      stdout: '',
      stderr: 'x',
      errorType: 'E',
      errorMessage: 'm',
      errorLine: 1,
      imageCount: 0,
      wallMs: 1.5,
    },
  );
  return made.finish('toolError');
}

async function readAll(): Promise<StoredTrajectory[]> {
  const all: StoredTrajectory[] = [];
  for await (const stored of readTrajectories(path)) all.push(stored);
  return all;
}

const png = Uint8Array.of(137, 80, 78, 71);

describe('trajectory files', () => {
  it('give back what was written, logprobs and pixels bit for bit', async () => {
    // −0 is left out: JSON writes it as 0.
    const logprob = float({ max: Math.fround(-1e-38), noNaN: true, noDefaultInfinity: true });
    const property = asyncProperty(
      array(logprob, { minLength: 1, maxLength: 20 }),
      uint8Array({ minLength: 1 }),
      integer({ min: 0, max: 7 }),
      async (logprobs, bytes, sampleIndex) => {
        const written = trajectory(logprobs, bytes, sampleIndex);
        await writeTrajectory(path, written, { step: 3, split: 'train' });
        expect(await readAll()).toEqual([
          { trajectory: written, tags: { step: 3, split: 'train' } },
        ]);
        await rm(path);
      },
    );
    await assert(property, { numRuns: 40 });
  });

  it('keep rewards, term by term', async () => {
    const scored: ScoredTrajectory = {
      ...trajectory([-1], png),
      reward: 1.2,
      rewardTerms: { accuracy: 1, 'accumulative-tool': 0.2 },
      turnRewards: [-0.5],
      isCorrect: true,
    };
    const unfit = { ...scored, turnRewards: [-0.5, 0, 0] };
    await expect(writeTrajectory(path, unfit)).rejects.toThrow(/1 turns and 3 turn rewards/);
    await writeTrajectory(path, scored);
    // Its last turn used a tool: one more reward is that of the answer that never came.
    const spared = { ...scored, turnRewards: [-0.5, 0] };
    await writeTrajectory(path, spared);
    expect((await readAll())[1]?.trajectory).toEqual(spared);
    const [stored] = await readAll();
    expect(stored?.trajectory).toEqual(scored);
    expect(stored && isScored(stored.trajectory)).toBe(true);
  });

  it('keep the mark of a baseline', async () => {
    const baseline = { ...trajectory([-1], png, 8), isBaseline: true };
    await writeTrajectory(path, baseline);
    expect((await readAll())[0]?.trajectory).toEqual(baseline);
  });

  it('keep how tokens were truncated, and the mass that was kept', async () => {
    const made = new TrajectoryBuilder({
      id: 't/9',
      taskId: 't',
      sampleIndex: 9,
      truncation: { topK: 40, topP: 0.95, minP: 0 },
    });
    made.prompt({ tokens: Int32Array.of(1), images: [], text: '' });
    const keptMass = Float32Array.of(0.97, 1 / 3);
    const logprobs = Float32Array.of(-1, -2);
    const said = { tokens: Int32Array.of(5, 6), logprobs, text: '', policyVersion: 0 };
    const wrong = { ...said, keptMass: keptMass.subarray(1) };
    expect(() => made.model(wrong)).toThrow(/2 tokens and 1 keptMass/);
    const none = { ...said, keptMass: Float32Array.of(0.97, 0) };
    expect(() => made.model(none)).toThrow(/keptMass outside \(0, 1\]/);
    made.model({ ...said, keptMass });
    const written = made.fail({ boundary: 'env', message: 'cut' });
    expect(written.segments[1]?.keptMass).toEqual(keptMass);
    await writeTrajectory(path, written);
    expect((await readAll())[0]?.trajectory).toEqual(written);
  });

  it('hold no pixels, and keep an image shared by many trajectories once', async () => {
    const writer = await openTrajectoryWriter(path);
    await Promise.all(
      [0, 1, 2].map((i) => writer.write(trajectory([-1], Uint8Array.from(png), i))),
    );
    await writer.close();
    expect(await readdir(join(directory, 'images'))).toHaveLength(1);
    expect(await readFile(path, 'utf8')).not.toContain('png":');
    expect((await readAll()).map((stored) => stored.trajectory.sampleIndex)).toEqual([0, 1, 2]);
  });

  it('can be cut back to where a resumed run stood', async () => {
    const writer = await openTrajectoryWriter(path);
    await writer.write(trajectory([-1], png, 0));
    const checkpoint = writer.sizeBytes;
    await writer.write(trajectory([-1], png, 1));
    await writer.close();
    await appendFile(path, '{"torn');
    const resumed = await openTrajectoryWriter(path, { startAt: checkpoint });
    await resumed.write(trajectory([-1], png, 2));
    await resumed.close();
    expect((await readAll()).map((stored) => stored.trajectory.sampleIndex)).toEqual([0, 2]);
    expect(resumed.sizeBytes).toBe((await stat(path)).size);
    await expect(openTrajectoryWriter(path, { startAt: 1e9 })).rejects.toThrow(/changed after/);
  });

  it('name the line that cannot be read, and why', async () => {
    await writeTrajectory(path, trajectory([-1], png));
    const line = await readFile(path, 'utf8');
    const refuses = async (changed: string, message: RegExp): Promise<void> => {
      await writeFile(path, line + changed);
      await expect(readAll()).rejects.toThrow(DataError);
      await expect(readAll()).rejects.toThrow(message);
    };
    await refuses('{"id":', /trajectories\.jsonl:2: .*JSON/);
    await refuses('[]\n', /:2: the line must be an object/);
    await refuses(
      line.replace('"sampleIndex":0', '"sampleIndex":"0"'),
      /:2: sampleIndex must be a w/,
    );
    await refuses(line.replace('"tokens":[1,2,3]', '"tokens":[1,"2",3]'), /segments\[0\]\.tokens/);
    await refuses(line.replace('"logprobs":[-1]', '"logprobs":[-1,-1]'), /1 tokens and 2 logprobs/);
    await refuses(line.replace('"toolError"', '"gone"'), /stopReason must be one of answered/);
  });

  it('say which image is missing, and refuse one outside of the directory', async () => {
    await writeTrajectory(path, trajectory([-1], png));
    const line = await readFile(path, 'utf8');
    await rm(join(directory, 'images'), { recursive: true });
    await expect(readAll()).rejects.toThrow(/:1: image images\/[0-9a-f]+\.png cannot be read/);
    for await (const stored of readTrajectoryLines(path)) {
      expect(Object.keys(stored.files)).toEqual(['image_clue_0']);
    }
    await writeFile(path, line.replace(/images\/[0-9a-f]+\.png/, '../secret.png'));
    await expect(readAll()).rejects.toThrow(/outside/);
  });

  it('refuse a trajectory that breaks its invariants, and writing after close', async () => {
    const writer = await openTrajectoryWriter(path);
    const broken = { ...trajectory([-1], png), answer: 'x' };
    await expect(writer.write(broken)).rejects.toThrow(/has an answer but is toolError/);
    await writer.write(trajectory([-1], png));
    await writer.close();
    expect(await readAll()).toHaveLength(1);
    expect(() => writer.write(trajectory([-1], png))).toThrow(StateError);
  });
});
