import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isTiming, readMetrics } from '@saccade/run-store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeCheckpoint } from './checkpoint.fixture.ts';
import { openSharedSandbox, type SharedSandbox } from './sandbox-service.fixture.ts';

const bin = fileURLToPath(new URL('../bin/saccade.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'saccade-pretrained-run-'));
let sandbox: SharedSandbox | undefined;
afterAll(async () => {
  await sandbox?.close();
  rmSync(root, { recursive: true });
});

const checkpoint = join(root, 'checkpoint');
beforeAll(async () => {
  await writeCheckpoint(checkpoint);
  sandbox = await openSharedSandbox();
});

const settings = () =>
  [
    ...(sandbox?.settings ?? []),
    'model=pretrained',
    `model.from=${checkpoint}`,
    'model.dtype=f32',
    'model.lora.rank=4',
    'model.recompute=true',
    'sft.updates=4',
    'coldStart.demonstrations=8',
    'rl.steps=2',
    'rl.groupSize=4',
    'evaluation.count=1',
  ].flatMap((setting) => ['--set', setting]);

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

function ended(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
}

const digest = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** The directory of the policy that a run ends with. */
function policyOf(directory: string): string {
  const [last] = readdirSync(join(directory, 'checkpoints')).sort().reverse();
  return join(directory, 'checkpoints', last ?? '', 'policy');
}

const rowsOf = (directory: string) =>
  readMetrics(directory).value.rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !isTiming(name))),
  );

describe('a published checkpoint', () => {
  it('trains an adapter, and goes on where it was killed with the same bits', async () => {
    const shards = readdirSync(checkpoint).filter((name) => name.endsWith('.safetensors'));
    expect(shards.length).toBeGreaterThan(2);
    const before = shards.map((name) => digest(join(checkpoint, name)));
    const whole = join(root, 'whole');
    const { code, output } = await ended(start(['train', 'smoke', '--out', whole, ...settings()]));
    expect(code, output).toBe(0);
    expect(rowsOf(whole).filter(({ stage }) => stage === 'rl')).toHaveLength(2);

    const killed = join(root, 'killed');
    const child = start(['train', 'smoke', '--out', killed, ...settings()]);
    const end = ended(child);
    const path = join(killed, 'metrics.jsonl');
    const rows = () => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').length : 0);
    // In the second step of reinforcement learning.
    while (child.exitCode === null && rows() < 4 + 1 + 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    child.kill('SIGKILL');
    await end;
    const resumed = await ended(start(['train', '--resume', killed]));
    expect(resumed.code, resumed.output).toBe(0);
    expect(rowsOf(killed)).toEqual(rowsOf(whole));
    for (const file of ['adapter_model.safetensors', 'optimizer.safetensors']) {
      expect(digest(join(policyOf(killed), file)), file).toBe(digest(join(policyOf(whole), file)));
    }
    // The adapter alone is saved, and the checkpoint stays what it was.
    expect(readdirSync(policyOf(whole)).filter((name) => name.startsWith('model'))).toEqual([]);
    expect(shards.map((name) => digest(join(checkpoint, name)))).toEqual(before);
    const norms = rowsOf(whole).map(({ grad_norm }) => Number(grad_norm ?? 0));
    expect(Math.max(...norms)).toBeGreaterThan(0);
    const evaluated = await ended(start(['eval', whole, '--count', '1']));
    expect(evaluated.code, evaluated.output).toBe(0);
  }, 600_000);
});
