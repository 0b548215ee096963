/** A run of the command line, replayed: exact, tampered with, without its checkpoints, live. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ReplayedPlay, type ReplayRunOptions, replayRun } from '@saccade/replay';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const bin = fileURLToPath(new URL('../bin/saccade.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'saccade-replay-'));
const run = join(root, 'run');
afterAll(() => rmSync(root, { recursive: true }));

function saccade(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

beforeAll(() => {
  // Long enough a cold start that some trajectories look before they answer.
  const settings = [
    'coldStart.answerWithoutLooking=0.4',
    'sft.updates=55',
    'checkpoint.everySftUpdates=100',
    'rl.steps=2',
    'evaluation.count=4',
    'evaluation.temperature=0.7',
  ];
  const set = settings.flatMap((one) => ['--set', one]);
  const { status, stderr } = saccade('train', 'smoke', '--out', run, ...set);
  expect(status, stderr).toBe(0);
}, 600_000);

async function replayed(
  directory: string,
  options: Omit<ReplayRunOptions, 'onEvent'>,
): Promise<readonly ReplayedPlay[]> {
  const all: ReplayedPlay[] = [];
  for await (const one of replayRun(directory, { ...options, onEvent: () => {} })) all.push(one);
  return all;
}

const linesOf = (directory: string, file: string) =>
  readFileSync(join(directory, 'trajectories', `${file}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const files = ['evaluation-final', 'evaluation-sft', 'step-000001', 'step-000002'];

/** Rewrites one line of a copy of the run. */
function tampered(name: string, file: string, index: number, change: (line: never) => void) {
  const copy = join(root, name);
  cpSync(run, copy, { recursive: true });
  const lines = linesOf(copy, file);
  change(lines[index] as never);
  // Without checksums its rows are taken as they are; the manifest still tells that it was changed.
  const text = lines.map(({ checksum: _, ...line }) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(join(copy, 'trajectories', `${file}.jsonl`), text);
  return copy;
}

interface Line {
  readonly segments: { kind: string; tokens: number[]; logprobs?: number[]; text: string }[];
  readonly turns: { result?: { stdout: string } }[];
}

/** A stored trajectory that ran code and went on. */
function lookAt(): { readonly file: string; readonly index: number } {
  for (const file of files) {
    const index = linesOf(run, file).findIndex(({ segments }: Line) => segments.length > 3);
    if (index >= 0) return { file, index };
  }
  throw new Error('No trajectory of the run looks twice.');
}

describe('saccade replay', () => {
  it('gives every kept trajectory again, bit for bit, from the record and in the sandbox', () => {
    const all = files.flatMap((file) => linesOf(run, file));
    expect(all.filter(({ segments }: Line) => segments.length > 1).length).toBeGreaterThan(8);
    expect(all.filter(({ segments }: Line) => segments.length > 2).length).toBeGreaterThan(1);
    const { status, stdout, stderr } = saccade('replay', run, '--all', '--live');
    expect(status, stdout + stderr).toBe(0);
    expect(stdout).toContain(
      `${all.length} of ${all.length} replays are exact; run live, 0 came out differently.`,
    );
  }, 120_000);

  it('names the first token and log-prob that differ', async () => {
    const at = lookAt();
    const token = tampered('token', at.file, at.index, ({ segments }: Line) => {
      const [, , , second] = segments;
      if (second !== undefined) second.tokens[0] = 5;
    });
    const [other] = await replayed(token, at);
    expect(other?.recorded).toMatchObject({ isExact: false, largestLogprobDifference: 0 });
    expect(other?.recorded.differences).toEqual([
      expect.stringMatching(
        /^turn 2, token 1 \(position \d+\): recorded 5 ".*" \(log-prob .*\), replayed \d+ ".*" \(log-prob .*\), after "/,
      ),
    ]);
    const logprob = tampered('logprob', at.file, at.index, ({ segments }: Line) => {
      const logprobs = segments[1]?.logprobs;
      if (logprobs !== undefined) logprobs[1] = (logprobs[1] ?? 0) - 1e-3;
    });
    const [shifted] = await replayed(logprob, at);
    expect(shifted?.recorded.largestLogprobDifference).toBeCloseTo(1e-3, 6);
    expect(shifted?.recorded.differences).toEqual([
      expect.stringMatching(/^turn 1, token 2 .*: recorded log-prob -[\d.]+, replayed -.* apart/),
    ]);
  }, 120_000);

  it('says what the sandbox gives otherwise, and replays the record as it is', () => {
    const { file, index } = lookAt();
    const result = tampered('result', file, index, ({ turns }: Line) => {
      const first = turns[0]?.result;
      if (first !== undefined) first.stdout = 'nothing like it';
    });
    const at = ['--of', file, '--index', String(index)];
    const { status, stdout } = saccade('replay', result, ...at, '--live');
    expect(status, stdout).toBe(0);
    expect(stdout).toMatch(
      /DIFFERS {4}run live[^\n]*\n\s+turn 1, tool result: recorded [^\n]*nothing like it/,
    );
  }, 120_000);

  it('says which weights are kept, and trains those that are not again, bit for bit', async () => {
    const copy = join(root, 'pruned');
    cpSync(run, copy, { recursive: true });
    const lost = join('checkpoints', 'step-000056', 'policy', 'model.safetensors');
    const weights = readFileSync(join(run, lost));
    rmSync(join(copy, 'checkpoints', 'step-000056'), { recursive: true });
    const second = { file: 'step-000002', index: 1 };
    await expect(replayed(copy, second)).rejects.toThrow(
      /keeps no weights of version 56; it keeps versions 55, 57\. Add --rebuild/,
    );
    const survey = saccade('replay', copy);
    expect(survey.status, survey.stdout + survey.stderr).toBe(0);
    expect(survey.stdout).toMatch(/^left out step-000002\[0\] .*: weights 56 are not kept$/m);
    expect(survey.stdout).toMatch(/(\d+) of \1 replays are exact\. 1 left out: --rebuild/);
    const rebuilt = saccade('replay', copy, '--step', '2', '--index', '1', '--rebuild');
    expect(rebuilt.status, rebuilt.stdout + rebuilt.stderr).toBe(0);
    expect(rebuilt.stderr).toMatch(/training 1 steps again from .*step-000055/);
    expect(readFileSync(join(copy, 'replay', lost)).equals(weights)).toBe(true);
    // Kept now.
    expect(await replayed(copy, second)).toMatchObject([{ recorded: { isExact: true } }]);
  }, 120_000);

  it('finds a trajectory by its id, and says what there is if it does not', async () => {
    const [{ id }] = linesOf(run, 'step-000002').slice(2);
    expect(await replayed(run, { id })).toMatchObject([{ play: { index: 2 } }]);
    await expect(replayed(run, { id: 'nobody' })).rejects.toThrow(/no trajectory "nobody" in/);
    await expect(replayed(run, { file: 'step-000009' })).rejects.toThrow(
      /Known: evaluation-final, /,
    );
    await expect(replayed(root, {})).rejects.toThrow(/holds no run/);
  }, 120_000);
});
