import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readMetrics } from '@saccade/run-store';
import { afterAll, describe, expect, it } from 'vitest';

const bin = fileURLToPath(new URL('../bin/saccade.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'saccade-dynamic-'));
afterAll(() => rmSync(root, { recursive: true }));

describe('a run with dynamic sampling', () => {
  it('rolls out round after round until its batch is full or its rounds are over', () => {
    const out = join(root, 'run');
    const settings = [
      'scheduler=dynamic-sampling',
      'scheduler.promptsPerStep=2',
      'scheduler.oversample=1',
      'scheduler.maxRounds=3',
      'rl.groupSize=4',
      'rl.steps=3',
      'sft.updates=8',
      'evaluation.count=1',
    ];
    const args = ['train', 'smoke', '--out', out, ...settings.flatMap((one) => ['--set', one])];
    const { status, stderr } = spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    const rows = readMetrics(out).value.rows.filter(({ stage }) => stage === 'rl');
    expect(rows).toHaveLength(3);
    const perRound = 2;
    for (const row of rows) {
      const rounds = Number(row['schedule/rounds'] ?? 1);
      const groupsOf = (reason: string) => Number(row[`filter/${reason}/groups`] ?? 0);
      const lost = groupsOf('uniformGroup') + groupsOf('rankedOut') + groupsOf('groupFailed');
      const kept = rounds * perRound - lost;
      expect(Number(row.trained_trajectories)).toBe(kept * 4);
      // Nothing but a full batch ends a step before its last round.
      if (kept < perRound) expect([rounds, row['schedule/exhausted']]).toEqual([3, 1]);
      else expect(row['schedule/exhausted']).toBeUndefined();
    }
    // Otherwise one round was always enough, and the loop was not asked to go on.
    expect(rows.some((row) => Number(row['schedule/rounds'] ?? 1) > 1)).toBe(true);
  }, 300_000);
});
