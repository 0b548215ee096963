/** `saccade serve mcp` and `saccade serve env` as their clients see them: processes of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { encode } from 'fast-png';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';

const cli = join(import.meta.dirname, '../bin/saccade.js');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'saccade-doors-'));
  const data = new Uint8Array(60 * 40 * 3).fill(90);
  writeFileSync(join(folder, 'gray.png'), encode({ width: 60, height: 40, channels: 3, data }));
});
afterAll(() => rmSync(folder, { recursive: true }));

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    expect(child.exitCode).toBe(0);
  }
});

/** Starts the command; gives the address it prints. */
async function serve(...words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [cli, 'serve', ...words, '--port', '0']);
  children.push(child);
  let said = '';
  return await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (piece) => {
        said += piece;
        const url = / at (http:\S+)/.exec(said)?.[1];
        if (url !== undefined) resolve(url);
      });
    }
    child.once('exit', () => reject(new Error(said)));
  });
}

it('serves tools to a client that starts it', async () => {
  const client = new Client({ name: 'test', version: '1' });
  const args = [cli, 'serve', 'mcp', '--stdio', '--tools', 'image_flip_tool', '--images', folder];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['add_image', 'image_flip_tool']);
    await client.callTool({ name: 'add_image', arguments: { path: 'gray.png' } });
    const { content } = await client.callTool({
      ...{ name: 'image_flip_tool', arguments: { direction: 'vertical' } },
    });
    expect(content).toMatchObject([
      { type: 'text', text: 'Image: image_1 (60 x 40)' },
      { type: 'image', mimeType: 'image/png' },
    ]);
  } finally {
    await client.close();
  }
});

it('serves tools over HTTP', async () => {
  const url = await serve('mcp', '--tools', 'image_flip_tool,image_zoom_in_tool');
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  expect((await client.listTools()).tools).toHaveLength(3);
  await client.close();
});

it('serves the environments of a recipe, with its protocol and reward', async () => {
  const url = await serve('env', 'smoke', '--set', 'protocol.toolTurns=1', '--split', 'heldOut');
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as {
      reward: number | null;
      done: boolean;
      observation: {
        session_id: string;
        task_id: string;
        stop_reason: string;
        reward_terms: object;
      };
    };
  };
  const { observation } = await post('/reset', { seed: 1 });
  expect(observation.task_id).toContain('heldOut');
  const { session_id } = observation;
  const text = '<code>\n```python\nprint(1)\n```\n</code>';
  expect(await post('/step', { session_id, action: { text } })).toMatchObject({
    done: false,
    reward: null,
  });
  const last = await post('/step', { session_id, action: { text } });
  expect(last).toMatchObject({ done: true, observation: { stop_reason: 'turnLimit' } });
  expect(Object.keys(last.observation.reward_terms)).toContain('accuracy');
});
