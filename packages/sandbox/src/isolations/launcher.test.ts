import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { findCommand } from '../python-interpreter.ts';
import { endsWithParent } from './launcher.ts';

it('ends a program whose parent was killed', async (context) => {
  if (findCommand('setpriv') === undefined) return context.skip('setpriv is not installed');
  const { command, args } = endsWithParent(['/bin/sleep', '60'], '');
  const script = `
const child = require('node:child_process')
  .spawn(${JSON.stringify(command)}, ${JSON.stringify(args)}, { stdio: 'ignore' });
process.stdout.write(String(child.pid) + '\\n');`;
  const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const text = await new Promise<string>((resolve) => {
    parent.stdout.once('data', (data) => resolve(String(data)));
  });
  const pid = Number(text);
  // The shell becomes setpriv, which becomes the program.
  await vi.waitFor(() => expect(nameOf(pid)).toBe('sleep'), { timeout: 20_000 });
  parent.kill('SIGKILL');
  await vi.waitFor(() => expect(nameOf(pid)).not.toBe('sleep'), { timeout: 20_000 });
});

it('gives a program the descriptors and the file that its redirections name', async () => {
  const { command, args } = endsWithParent(['/bin/cat'], '4<"$0" <&4', import.meta.filename);
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (data) => {
    text += data;
  });
  await new Promise((resolve) => child.on('close', resolve));
  expect(text).toContain('gives a program the descriptors');
});

function nameOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}
