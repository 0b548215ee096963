/** `saccade serve tools` as a user starts it: with a placement and tools of one's own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { remoteTools } from '@saccade/tool-service';
import { afterAll, describe, expect, it } from 'vitest';

const bin = fileURLToPath(new URL('../bin/saccade.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'saccade-serve-tools-'));
const servers: ChildProcess[] = [];
afterAll(() => {
  for (const server of servers) server.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** A tool in TypeScript that says which process it is in, and where. */
const tools = `
const outcome = (stdout: string) => ({ kind: 'ok', stdout, stderr: '', images: [], truncated: [],
  wallMs: 0, cpuMs: 0, maxRssKb: 0, tier: 'none' });
export const where = { name: 'where_tool', description: 'Says where it runs.', example: {},
  parameters: { type: 'object', properties: {}, additionalProperties: false },
  call: async () => outcome(process.pid + ' ' + (process.env.PLACE ?? 'own')) };`;

async function serve(...args: readonly string[]): Promise<{ server: ChildProcess; url: string }> {
  const server = spawn(process.execPath, [bin, 'serve', 'tools', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  servers.push(server);
  const url = await new Promise<string>((resolve, reject) => {
    server.on('exit', (code) => reject(new Error(`The server ended with ${code}.`)));
    server.stdout?.on('data', (chunk) => {
      const found = /Tools at (http:\S+) \(where_tool\)/.exec(String(chunk))?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return { server, url };
}

const ended = (server: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => server.on('exit', (code) => resolve(code)));

const context = { images: [], sandbox: { open: () => Promise.reject(new Error('not used')) } };

async function whereIs(url: string): Promise<readonly string[]> {
  const open = await remoteTools({ url, timeoutSeconds: 60 });
  const outcome = await open.tools[0]?.call({}, context);
  await open.dispose();
  return outcome?.stdout.split(' ') ?? [];
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('saccade serve tools', () => {
  write('tools.ts', tools);
  const placement = write(
    'placement.ts',
    `export const placement = { modules: ['./tools.ts'], processes: [
      { name: 'mine', tools: ['where_tool'], environment: { PLACE: 'mine' } }] };`,
  );

  it('puts tools where the placement says, and ends with its processes', async () => {
    const { server, url } = await serve('--placement', placement);
    const [pid = '', place] = await whereIs(url);
    expect(place).toBe('mine');
    expect(Number(pid)).not.toBe(server.pid);
    server.kill('SIGTERM');
    expect(await ended(server)).toBe(0);
    expect(isAlive(Number(pid))).toBe(false);
  }, 120_000);

  it('leaves no process behind when it is killed', async () => {
    const { server, url } = await serve('--placement', placement);
    const [pid = ''] = await whereIs(url);
    server.kill('SIGKILL');
    await ended(server);
    for (let look = 0; look < 100 && isAlive(Number(pid)); look++) {
      await new Promise((wake) => setTimeout(wake, 50));
    }
    expect(isAlive(Number(pid))).toBe(false);
  }, 120_000);
});
