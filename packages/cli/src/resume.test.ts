import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomAt } from '@saccade/core';
import { detectors } from '@saccade/rewards';
import { isTiming, readMetrics } from '@saccade/run-store';
import { findMetric } from '@saccade/run-store/metrics';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSharedSandbox, type SharedSandbox } from './sandbox-service.fixture.ts';

const bin = fileURLToPath(new URL('../bin/saccade.js', import.meta.url));
const audits = detectors.names.map((name) => `audit/${name}`);
const root = mkdtempSync(join(tmpdir(), 'saccade-resume-'));
const isSweep = process.env.SACCADE_SWEEP !== undefined;
let sandbox: SharedSandbox | undefined;
beforeAll(async () => {
  sandbox = await openSharedSandbox();
});
afterAll(async () => {
  await sandbox?.close();
  rmSync(root, { recursive: true });
});

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [bin, 'train', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

function ended(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
}

/** Digest of the weights a finished run ends with. */
function weightsOf(directory: string): string {
  const [last] = readdirSync(join(directory, 'checkpoints')).sort().reverse();
  const path = join(directory, 'checkpoints', last ?? '', 'policy', 'model.safetensors');
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function rowsOf(directory: string): Record<string, unknown>[] {
  return readMetrics(directory).value.rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !isTiming(name))),
  );
}

/** Kills without warning once the metrics have some rows, a random moment later. */
async function killAfter(child: ChildProcess, directory: string, rows: number, delayMs: number) {
  const path = join(directory, 'metrics.jsonl');
  const hasRows = () => existsSync(path) && readFileSync(path, 'utf8').split('\n').length > rows;
  while (child.exitCode === null && !hasRows()) await new Promise((r) => setTimeout(r, 20));
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  child.kill('SIGKILL');
}

/** Few and short rollouts; without the bonus so small a policy might change no weight. */
const small = () =>
  [
    ...(sandbox?.settings ?? []),
    'coldStart.demonstrations=16',
    'rl.groupSize=4',
    'evaluation.count=2',
    'algorithm.entropyCoefficient=0.01',
  ].flatMap((setting) => ['--set', setting]);

describe('a run', () => {
  it('killed at random moments ends with the metrics of one left alone', async () => {
    const whole = join(root, 'whole');
    const { code, output } = await ended(start(['smoke', '--out', whole, ...small()]));
    expect(code, output).toBe(0);

    const names = new Set(rowsOf(whole).flatMap((row) => Object.keys(row)));
    expect([...names].filter((name) => findMetric(name) === undefined)).toEqual([]);

    const killed = join(root, 'killed');
    const random = randomAt(Date.now(), 'kill');
    let args: readonly string[] = ['smoke', '--out', killed, ...small()];
    // In the cold start, or while it learns; in a sweep at four moments of both.
    const moments = isSweep ? [3, 14, 17, 18] : [random.pick([14, 17])];
    for (const rows of moments) {
      const child = start(args);
      const end = ended(child);
      await killAfter(child, killed, rows, random.integer(400));
      await end;
      args = ['--resume', killed];
    }
    const last = await ended(start(args));
    expect(last.code, last.output).toBe(0);
    expect(rowsOf(killed)).toEqual(rowsOf(whole));
    expect(rowsOf(whole)).toHaveLength(16 + 1 + 3 + 1);
    expect(weightsOf(killed)).toBe(weightsOf(whole));
    const steps = rowsOf(whole).filter(({ stage }) => stage === 'rl');
    for (const row of steps) expect(Object.keys(row)).toEqual(expect.arrayContaining(audits));
    // Otherwise the steps were resumed without anything at stake.
    const norms = rowsOf(whole).map(({ stage, grad_norm }) => stage === 'rl' && Number(grad_norm));
    expect(Math.max(...norms.map(Number))).toBeGreaterThan(0);
    expect(existsSync(join(killed, 'report.html'))).toBe(true);

    // A finished run goes on for more steps, and keeps what it has.
    const before = rowsOf(whole);
    const longer = await ended(start(['--resume', whole, '--steps', '4']));
    expect(longer.code, longer.output).toBe(0);
    expect(rowsOf(whole).slice(0, before.length)).toEqual(before);
    const added = rowsOf(whole).slice(before.length);
    expect(added.map(({ stage }) => stage)).toEqual(['rl', 'evaluation']);
    const fewer = await ended(start(['--resume', whole, '--steps', '2']));
    expect(fewer.code).toBe(2);
    expect(fewer.output).toContain('can only be extended');
  }, 600_000);

  it('finishes its step and says how to continue when it is interrupted', async () => {
    const directory = join(root, 'interrupted');
    // No checkpoint and no evaluation comes before the end, so that nothing else lets the signal in.
    const long = ['--set', 'sft.updates=400', '--set', 'checkpoint.everySftUpdates=400'];
    const child = start(['smoke', '--out', directory, ...small(), ...long]);
    const end = ended(child);
    const path = join(directory, 'metrics.jsonl');
    const hasLearned = (): boolean => existsSync(path) && readFileSync(path, 'utf8').includes('\n');
    while (child.exitCode === null && !hasLearned()) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    child.kill('SIGINT');
    const { code, output } = await end;
    expect(code, output).toBe(130);
    expect(output).toContain('saving a checkpoint');
    expect(output).toContain(`--resume ${directory}`);
    expect(rowsOf(directory).length).toBeLessThan(400);
  }, 120_000);
});
