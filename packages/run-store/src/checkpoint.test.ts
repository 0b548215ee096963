import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataError, type RunEvent, SaccadeError } from '@saccade/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findLatestCheckpoint, verifyCheckpoint, writeCheckpoint } from './checkpoint.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'saccade-checkpoint-'));
});
afterEach(() => rmSync(parent, { recursive: true }));

type Options = Partial<Parameters<typeof writeCheckpoint>[3]>;

const write = (step: number, options: Options = {}) =>
  writeCheckpoint(
    parent,
    step,
    async (directory) => writeFileSync(join(directory, 'weights'), `weights of ${step}`),
    { keep: 2, ...options },
  );

const names = (): readonly string[] => readdirSync(parent).sort();

function latest(): { step: number | undefined; warnings: readonly string[] } {
  const events: RunEvent[] = [];
  const found = findLatestCheckpoint(parent, (event) => events.push(event));
  const warnings = events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
  return { step: found?.step, warnings };
}

describe('checkpoints', () => {
  it('finds the newest, and keeps as many as asked besides the pinned ones', async () => {
    await write(1, { pinned: true });
    for (const step of [2, 3, 4]) await write(step);
    expect(latest()).toEqual({ step: 4, warnings: [] });
    expect(names()).toEqual(['step-000001', 'step-000003', 'step-000004']);
  });

  it('keeps every pinned one, wherever it stands, and says which are pinned', async () => {
    for (const step of [1, 2, 3, 4, 5, 6]) await write(step, { pinned: step % 3 === 1, keep: 1 });
    expect(names()).toEqual(['step-000001', 'step-000004', 'step-000006']);
    const pinned = names().map((name) => verifyCheckpoint(join(parent, name)).pinned);
    expect(pinned).toEqual([true, true, false]);
    // A pinned one written last does not use up a place of the unpinned.
    await write(7, { pinned: true, keep: 1 });
    expect(names()).toEqual(['step-000001', 'step-000004', 'step-000006', 'step-000007']);
  });

  it('tells which stay before old ones go', async () => {
    await write(1, { pinned: true });
    for (const step of [2, 3]) await write(step);
    const told: (readonly [readonly number[], readonly string[]])[] = [];
    await writeCheckpoint(parent, 4, async () => {}, {
      keep: 2,
      beforeRemoval: (kept) => told.push([kept, names()]),
    });
    expect(told).toEqual([
      [
        [1, 3, 4],
        ['step-000001', 'step-000002', 'step-000003', 'step-000004'],
      ],
    ]);
    expect(names()).toEqual(['step-000001', 'step-000003', 'step-000004']);
  });

  it('gives back what a removed one has elsewhere, and tries again what it could not', async () => {
    const held = new Set<string>();
    let isAway = false;
    const keeping = (step: number, elsewhere: string, fails = false) =>
      writeCheckpoint(
        parent,
        step,
        async (directory) => {
          writeFileSync(join(directory, 'elsewhere'), elsewhere);
          held.add(elsewhere);
          if (fails) throw new Error('killed');
        },
        {
          keep: 1,
          release: async (directory) => {
            if (isAway) throw new Error('nobody answers');
            held.delete(readFileSync(join(directory, 'elsewhere'), 'utf8'));
          },
        },
      );
    await keeping(1, 'one');
    await keeping(2, 'two');
    expect([...held]).toEqual(['two']);
    // One of the same step in its place; one that was not finished, by this process and by another.
    await keeping(2, 'two again');
    await expect(keeping(3, 'half', true)).rejects.toThrow(/could not be written/);
    expect([...held]).toEqual(['two again']);
    cpSync(join(parent, 'step-000002'), join(parent, '.writing-step-000003'), { recursive: true });
    writeFileSync(join(parent, '.writing-step-000003', 'elsewhere'), 'of another');
    held.add('of another');
    isAway = true;
    await keeping(3, 'three');
    await keeping(4, 'four');
    expect([...held]).toEqual(['two again', 'of another', 'three', 'four']);
    expect(latest()).toEqual({ step: 4, warnings: [] });
    isAway = false;
    await keeping(5, 'five');
    expect([...held]).toEqual(['five']);
    expect(names()).toEqual(['step-000005']);
  });

  it('passes over a damaged one and names the file', async () => {
    await write(1);
    await write(2);
    writeFileSync(join(parent, 'step-000002', 'weights'), 'weights of 3');
    const { step, warnings } = latest();
    expect(step).toBe(1);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/step-000002 is damaged: .*weights.*does not have the SHA-256/);
  });

  it('counts no damaged one among those to keep', async () => {
    await write(1);
    await write(2);
    rmSync(join(parent, 'step-000002', 'weights'));
    await write(3);
    expect(names()).toEqual(['step-000001', 'step-000003']);
  });

  it('passes over one that is cut short, and one without a manifest', async () => {
    for (const step of [1, 2]) await write(step);
    writeFileSync(join(parent, 'step-000002', 'weights'), 'w');
    expect(latest().step).toBe(1);
    rmSync(join(parent, 'step-000001', 'manifest.json'));
    expect(latest().step).toBeUndefined();
  });

  it('leaves the earlier one as it was when the disk is full', async () => {
    await write(1);
    const full = writeCheckpoint(
      parent,
      2,
      async (directory) => {
        mkdirSync(join(directory, 'policy'));
        writeFileSync(join(directory, 'policy', 'weights'), 'half');
        const code = 'ENOSPC';
        throw Object.assign(new Error(`${code}: no space left on device, write`), { code });
      },
      { keep: 2 },
    );
    await expect(full).rejects.toThrow(DataError);
    await expect(full).rejects.toThrow(/the disk is full.*step-000001 and older ones are intact/);
    expect(names()).toEqual(['step-000001']);
    expect(latest().step).toBe(1);
  });

  it('says of a full disk elsewhere what whoever found it full says', async () => {
    const message =
      'Weights could not be written to /elsewhere: ENOSPC: no space left. Make room there.';
    const full = writeCheckpoint(
      parent,
      1,
      async () => {
        throw new SaccadeError('learner', message);
      },
      { keep: 2 },
    );
    await expect(full).rejects.toThrow(/written to \/elsewhere: ENOSPC: no space left\. Make room/);
    await expect(full).rejects.not.toThrow(/the disk is full/);
  });

  it('counts none that comes after the step a run continues from', async () => {
    for (const step of [1, 2, 5]) await write(step, { keep: 3 });
    const told: (readonly number[])[] = [];
    const beforeRemoval = (kept: readonly number[]) => told.push(kept);
    await writeCheckpoint(parent, 3, async () => {}, { keep: 2, beforeRemoval });
    expect(told).toEqual([[2, 3]]);
    // It belongs to a time that is done again, and is replaced then.
    expect(names()).toEqual(['step-000002', 'step-000003', 'step-000005']);
    await write(5);
    expect(names()).toEqual(['step-000003', 'step-000005']);
  });
});
