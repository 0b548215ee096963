/** `saccade eval --suite` as a process: killed without warning, given bad input, compared. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openScriptedServer, type SentRequest, sentText } from '@saccade/chat/scripted-server';
import { randomAt } from '@saccade/core';
import { readEvaluation } from '@saccade/run-store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const bin = fileURLToPath(new URL('../bin/saccade.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'saccade-eval-suites-'));
let baseUrl = '';
let closeServer = async (): Promise<void> => {};

/** Crops once in two samples, then names a digit; what it says follows from the request alone. */
function say(request: SentRequest): string {
  const random = randomAt(request.seed ?? 0, 'scripted');
  const hasLooked = sentText(request).includes('```output');
  if (!hasLooked && random.uniform() < 0.5) {
    const call = {
      tool: 'image_zoom_in_tool',
      task: 'look',
      arguments: { bbox_2d: [0, 0, 99, 99] },
    };
    return `<think>look</think><tool_call>${JSON.stringify(call)}</tool_call>`;
  }
  return `<think>so</think><answer>${random.integer(3)}</answer>`;
}

beforeAll(async () => {
  const server = await openScriptedServer((request) => ({ say: say(request) }), {
    keepsRequests: false,
  });
  baseUrl = server.baseUrl;
  closeServer = () => server.close();
});

afterAll(async () => {
  await closeServer();
  rmSync(root, { recursive: true });
});

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [bin, 'eval', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

function ended(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
}

const scripted = (out: string, ...more: readonly string[]): readonly string[] => [
  ...['chat:scripted', '--base-url', baseUrl, '--suite', 'needle', '--count', '12', '--k', '3'],
  ...['--out', out, ...more],
];

const scoredRows = (out: string): number => {
  const path = join(out, 'samples', 'needle', 'scored-000.jsonl');
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
};

describe('saccade eval --suite', () => {
  it('killed at random moments ends with the results of one left alone', async () => {
    const whole = join(root, 'whole');
    const { code, output } = await ended(start(scripted(whole)));
    expect(code, output).toBe(0);
    expect(output).toMatch(/needle \(k=3\) +12 +36 +/);
    const killed = join(root, 'killed');
    const random = randomAt(Date.now(), 'kill');
    for (const rows of process.env.SACCADE_SWEEP === undefined ? [9] : [1, 9, 20]) {
      const child = start(scripted(killed));
      const end = ended(child);
      while (child.exitCode === null && scoredRows(killed) < rows) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await new Promise((resolve) => setTimeout(resolve, random.integer(30)));
      child.kill('SIGKILL');
      await end;
    }
    const kept = scoredRows(killed);
    expect(kept).toBeGreaterThan(0);
    const last = await ended(start(scripted(killed)));
    expect(last.code, last.output).toBe(0);
    expect(readFileSync(join(killed, 'results.json'), 'utf8')).toBe(
      readFileSync(join(whole, 'results.json'), 'utf8'),
    );
    const { value } = readEvaluation(killed);
    const ids = [...value.samples('needle')].map(({ trajectory }) => trajectory.id);
    expect(new Set(ids).size).toBe(36);
    expect(scoredRows(killed)).toBe(36);

    const compared = await ended(start(scripted(killed, '--against', whole)));
    expect(compared.output).toMatch(/Against chat:scripted, task by task:[\s\S]*\+0\.0/);
  }, 600_000);
});
