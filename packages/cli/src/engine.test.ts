/** A run and an evaluation whose rollouts are sampled by `saccade serve policy`. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const bin = fileURLToPath(new URL('../bin/saccade.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'saccade-engine-'));
const local = join(root, 'local');
let server: ChildProcess | undefined;
let url = '';
afterAll(() => {
  server?.kill();
  rmSync(root, { recursive: true });
});

function saccade(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

const settings = [
  'sft.updates=8',
  'coldStart.demonstrations=8',
  'checkpoint.everySftUpdates=100',
  'rl.steps=2',
  'rl.groupSize=4',
  'rl.temperature=0.8',
  'evaluation.count=2',
].flatMap((one) => ['--set', one]);

beforeAll(async () => {
  const { status, output } = saccade('train', 'smoke', '--out', local, ...settings);
  expect(status, output).toBe(0);
  server = spawn(process.execPath, [bin, 'serve', 'policy', local, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  url = await new Promise<string>((resolve, reject) => {
    server?.on('exit', (code) => reject(new Error(`The server ended with ${code}.`)));
    server?.stdout?.on('data', (chunk) => {
      const found = /at (http:\S+) \(local\)/.exec(String(chunk))?.[1];
      if (found !== undefined) resolve(found);
    });
  });
}, 600_000);

const sampledIn = (directory: string, file: string) =>
  readFileSync(join(directory, 'trajectories', `${file}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { id, policyVersion, segments, reward } = JSON.parse(line);
      return { id, policyVersion, segments, reward };
    });

describe('an engine for rollouts', () => {
  it('evaluates as the policy itself does, and says what it can', () => {
    expect(saccade('eval', local).status).toBe(0);
    const evaluation = join(local, 'evaluations', 'step-10');
    const own = sampledIn(evaluation, 'evaluation-eval');
    expect(own).toHaveLength(2);
    const through = saccade('eval', local, '--engine', url);
    expect(through.status, through.output).toBe(0);
    expect(sampledIn(evaluation, 'evaluation-eval')).toEqual(own);
    const again = saccade('replay', evaluation, '--all');
    expect(again.output).toContain('2 of 2 replays are exact.');
    const tokens = join(local, 'checkpoints', 'step-000010', 'policy');
    const { status, output } = saccade('doctor', '--engine', url, '--tokens', tokens);
    expect(status, output).toBe(0);
    expect(output).toMatch(/yes {2}images +beside token ids/);
  }, 120_000);

  it('is given the weights of every step, and trains the run that a run by itself is', () => {
    const remote = join(root, 'remote');
    const engine = ['--set', `engine.baseUrl=${url}`];
    const { status, output } = saccade('train', 'smoke', '--out', remote, ...settings, ...engine);
    expect(status, output).toBe(0);
    for (const file of ['evaluation-sft', 'step-000001', 'step-000002', 'evaluation-final']) {
      expect(sampledIn(remote, file)).toEqual(sampledIn(local, file));
    }
    const weights = (run: string) =>
      readFileSync(join(run, 'checkpoints', 'step-000010', 'policy', 'model.safetensors'));
    expect(weights(remote).equals(weights(local))).toBe(true);
    expect(readdirSync(join(remote, 'engine-weights'))).toHaveLength(1);
  }, 120_000);

  it('is refused in one line where nobody listens', async () => {
    const listener = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => listener.once('listening', resolve));
    const { port } = listener.address() as AddressInfo;
    await new Promise((resolve) => listener.close(resolve));
    const free = `engine.baseUrl=http://127.0.0.1:${port}`;
    const gone = ['--set', free, '--set', 'engine.retries=0'];
    const { status, output } = saccade('train', 'smoke', '--out', join(root, 'gone'), ...gone);
    expect(status).toBe(1);
    expect(output).toMatch(/error: http:\S+\/v1\/models cannot be reached: .* Start the server/);
  });
});
