/** A server ends with the run, however the run ends. */
import { spawn } from 'node:child_process';
import { callTool } from '@saccade/tools';
import { expect, it, vi } from 'vitest';
import { nothing, openHostile } from '../open-mcp.fixture.ts';
import { hostileServer } from './hostile-server.fixture.ts';
import { keptCommand } from './keeper.ts';
import { ServerProcess } from './server-process.ts';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function untilDead(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((next) => setTimeout(next, 20));
}

it.each(['plain', 'stubborn'])('when it is disposed of: %s', async (mode) => {
  const open = await openHostile(mode);
  const { stdout } = await callTool(open.tools, { name: 'go', arguments: {} }, nothing);
  const { pid } = JSON.parse(stdout) as { pid: number };
  expect(isAlive(pid)).toBe(true);
  await open.dispose();
  await untilDead(pid);
  await open.dispose();
  const late = callTool(open.tools, { name: 'go', arguments: {} }, nothing);
  await expect(late).rejects.toThrow(/was closed, as its run ended/);
});

it('when this process is killed, though it ignores it', async () => {
  const { command, args } = hostileServer('stubborn');
  const kept = keptCommand(command, args);
  const parent = spawn(process.execPath, [
    '-e',
    `const { spawn } = require('node:child_process');
     const child = spawn(${JSON.stringify(kept.command)}, ${JSON.stringify(kept.args)}, {
       stdio: ['pipe', 'pipe', 'inherit', 'pipe'], detached: true });
     child.stdout.pipe(process.stdout);
     child.stdin.write(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }) + '\\n');
     setInterval(() => {}, 1000);`,
  ]);
  const said = await new Promise<string>((resolve) => {
    parent.stdout.once('data', (piece) => resolve(String(piece)));
  });
  const { pid } = JSON.parse(JSON.parse(said).result.content[0].text) as { pid: number };
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await untilDead(pid);
});

it('says how it ended, though its input broke first', async () => {
  const args = ['-c', 'exec 0<&-; echo ready >&2; sleep 0.2; exit 3'];
  const server = new ServerProcess({ command: '/bin/sh', args, environment: {} });
  await server.start();
  await vi.waitFor(() => expect(server.lastWords).toContain('ready'), { timeout: 5000 });
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;
  await expect(server.send(ping)).rejects.toThrow('EPIPE');
  expect(server.lastWords).toContain('status 3');
});
