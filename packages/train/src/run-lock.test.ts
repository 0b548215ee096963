import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StateError } from '@saccade/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockRun } from './run-lock.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'saccade-lock-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('the lock of a run directory', () => {
  it('is refused while another process holds it', async () => {
    const other = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
    try {
      writeFileSync(join(directory, 'lock'), String(other.pid));
      expect(() => lockRun(directory)).toThrow(StateError);
      expect(() => lockRun(directory)).toThrow(`Process ${other.pid} is training in`);
    } finally {
      other.kill('SIGKILL');
      await once(other, 'exit');
    }
  });

  it('is taken over from a process that was killed, and given back', () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    writeFileSync(join(directory, 'lock'), String(pid));
    const unlock = lockRun(directory);
    expect(existsSync(join(directory, 'lock'))).toBe(true);
    unlock();
    expect(existsSync(join(directory, 'lock'))).toBe(false);
  });
});
