import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDevice, referenceBackend } from '@saccade/ops';
import {
  createLocalPolicy,
  nanoConfig,
  nanoSize,
  QwenProcessor,
  qwen2_5_vl,
  qwenImageProcessor,
  trainTokenizer,
} from '@saccade/policy';
import { isTiming, readMetrics } from '@saccade/run-store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSharedSandbox, type SharedSandbox } from './sandbox-service.fixture.ts';

const bin = fileURLToPath(new URL('../bin/saccade.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'saccade-pretrained-run-'));
let sandbox: SharedSandbox | undefined;
afterAll(async () => {
  await sandbox?.close();
  rmSync(root, { recursive: true });
});

/** A checkpoint as published ones are: bf16, in shards. Its weights are random. */
const checkpoint = join(root, 'checkpoint');
beforeAll(async () => {
  const images = { ...qwenImageProcessor, minPixels: 28 * 28, maxPixels: 112 * 112 };
  const processor = new QwenProcessor(
    trainTokenizer(['Which digit is hidden? <code>'], 400),
    images,
  );
  const size = { ...nanoSize, layers: 2, visionLayers: 2, hidden: 64, intermediate: 128 };
  const model = qwen2_5_vl.model(
    nanoConfig(processor.codec.vocabSize, processor.tokens, { ...size, visionHidden: 48 }),
  );
  const device = openDevice(referenceBackend());
  const policy = createLocalPolicy({ device, model, processor, seed: 1, dtype: 'bf16' });
  await policy.save(checkpoint, { maxShardBytes: 100_000 });
  device.dispose();
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

  it('is weighed by the doctor before it is loaded', async () => {
    const doctor = (...more: string[]) =>
      ended(start(['doctor', '--policy', 'smoke', ...settings(), ...more]));
    const fitting = await doctor('--memory', '64');
    expect(fitting.code, fitting.output).toBe(0);
    expect(fitting.output).toMatch(/weights +0\.\d\d GiB {2}the model\n +adapter/);
    expect(fitting.output).toMatch(/yes {2}It needs \d\.\d\d GiB; --memory has 64\.00 GiB\./);
    const tight = await doctor('--memory', '0.4');
    expect(tight.code, tight.output).toBe(1);
    expect(tight.output).toMatch(/no {3}It needs .* It would fit with --set .*: 0\.\d\d GiB\./);
    const none = await doctor('--memory', '0.01');
    expect(none.output).toMatch(/No setting of its own makes it fit/);
    const alone = await ended(start(['doctor', '--policy', checkpoint, '--memory', '64']));
    expect(alone.output).toMatch(
      /Memory of pretrained in .*\n +weights +0\.\d\d GiB {2}the model\n/,
    );
    const wrong = await ended(start(['doctor', '--policy', 'smoke', '--image-size', 'large']));
    expect(wrong.output).toMatch(/Expected a size such as 1024x768, got "large"/);
  }, 600_000);
});
