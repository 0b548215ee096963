/** Processes that run, have ended, wait to be collected, or have the number of another. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { identifyProcess, isRunning } from './processes.ts';

const isLinux = process.platform === 'linux';

it('takes no other process for one whose number it got', () => {
  const here = identifyProcess(process.pid);
  expect(isRunning(here)).toBe(true);
  expect(isRunning({ ...here, started: null })).toBe(true);
  expect(isRunning({ ...here, started: '1' })).toBe(!isLinux);
  expect(isRunning({ pid: 2 ** 30, started: null })).toBe(false);
});

it('knows a process until it ends, whatever its name is', async () => {
  // The system shows the name of the file, in parentheses of its own.
  const program = join(mkdtempSync(join(tmpdir(), 'processes-')), ') Z 0 (');
  symlinkSync('/bin/sleep', program);
  const child = spawn(program, ['60']);
  await once(child, 'spawn');
  const identity = identifyProcess(child.pid ?? 0);
  expect(identity.started !== null).toBe(isLinux);
  expect(isRunning(identity)).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isRunning(identity)).toBe(false);
});

it.runIf(isLinux)('counts a process that has ended and is not collected as ended', async () => {
  // The shell becomes a program that never asks for the end of the child it has by then.
  const parent = spawn('/bin/sh', ['-c', 'sleep 0 & echo $!; exec sleep 60']);
  try {
    const [line] = await once(parent.stdout, 'data');
    const identity = { pid: Number(line), started: null };
    for (let tries = 0; isRunning(identity) && tries < 200; tries++) {
      await new Promise((wake) => setTimeout(wake, 50));
    }
    // The number is still taken.
    expect(process.kill(identity.pid, 0)).toBe(true);
    expect(isRunning(identity)).toBe(false);
  } finally {
    parent.kill('SIGKILL');
  }
});
