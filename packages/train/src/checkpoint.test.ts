import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataError, type RunEvent } from '@saccade/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dropCheckpointsAfter, findLatestCheckpoint, writeCheckpoint } from './checkpoint.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'saccade-checkpoint-'));
});
afterEach(() => rmSync(parent, { recursive: true }));

const write = (step: number, options: { pinned?: boolean } = {}) =>
  writeCheckpoint(
    parent,
    step,
    async (directory) => writeFileSync(join(directory, 'weights'), `weights of ${step}`),
    { keep: 2, ...options },
  );

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
    expect(readdirSync(parent).sort()).toEqual(['step-000001', 'step-000003', 'step-000004']);
  });

  it('passes over a damaged one and names the file', async () => {
    await write(1);
    await write(2);
    writeFileSync(join(parent, 'step-000002', 'weights'), 'weights of 3');
    const { step, warnings } = latest();
    expect(step).toBe(1);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/step-000002 is damaged: .*weights does not have the SHA-256/);
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
      async () => {
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), {
          code: 'ENOSPC',
        });
      },
      { keep: 2 },
    );
    await expect(full).rejects.toThrow(DataError);
    await expect(full).rejects.toThrow(/the disk is full\. step-000001 and older ones are intact/);
    expect(readdirSync(parent)).toEqual(['step-000001']);
    expect(latest().step).toBe(1);
  });

  it('drops those that come after the step a run goes on from', async () => {
    for (const step of [1, 2]) await write(step);
    dropCheckpointsAfter(parent, 1);
    expect(latest().step).toBe(1);
  });
});
