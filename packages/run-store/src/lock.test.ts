import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StateError } from '@saccade/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockRun } from './lock.ts';
import { thisProcess } from './process-identity.ts';
import { StoreError } from './store-error.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'saccade-lock-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const id = '0123456789abcdef01234567';

function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid;
}

function write(fields: object): void {
  writeFileSync(join(directory, 'lock'), JSON.stringify({ id, ...thisProcess(), ...fields }));
}

describe('the lock of a run directory', () => {
  it('is refused while another process holds it, also one of format 1', async () => {
    const other = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
    try {
      writeFileSync(join(directory, 'lock'), String(other.pid));
      expect(() => lockRun(directory)).toThrow(StateError);
      expect(() => lockRun(directory)).toThrow(`Process ${other.pid} is training in`);
    } finally {
      other.kill('SIGKILL');
      await once(other, 'exit');
    }
    lockRun(directory)();
  });

  it('is refused to the process that holds it, and given back once', () => {
    const unlock = lockRun(directory);
    expect(() => lockRun(directory)).toThrow(StateError);
    unlock();
    expect(readdirSync(directory)).toEqual([]);
    const again = lockRun(directory);
    unlock();
    expect(existsSync(join(directory, 'lock'))).toBe(true);
    again();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is taken over from a process that was killed, and leaves nothing behind', () => {
    write({ pid: deadPid() });
    // A taker that died between its claim and its lock.
    const claim = { ...thisProcess(), id: 'f'.repeat(24), pid: deadPid() };
    writeFileSync(join(directory, `lock.after-${id}`), JSON.stringify(claim));
    const unlock = lockRun(directory);
    expect(readdirSync(directory)).toEqual(['lock']);
    unlock();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is taken over from a process whose id another one has now, or of an earlier boot', () => {
    write({ startedAt: '1' });
    lockRun(directory)();
    write({ boot: 'an earlier one' });
    lockRun(directory)();
    expect(existsSync(join(directory, 'lock'))).toBe(false);
  });

  it('is refused where nobody here can know whether its process lives', () => {
    write({ host: 'another-machine' });
    expect(() => lockRun(directory)).toThrow(/on another-machine is training in/);
    for (const damaged of ['', '{', '{"id":1}', '-5', 'null', '9'.repeat(40)]) {
      writeFileSync(join(directory, 'lock'), damaged);
      expect(() => lockRun(directory)).toThrow(StoreError);
      expect(() => lockRun(directory)).toThrow(/lock: it does not say which process holds it/);
    }
  });

  it('is given to one of two that take over a stale one at the same instant', async () => {
    const races = Number(process.env.SACCADE_LOCK_RACES ?? 300);
    const pid = deadPid();
    for (let i = 0; i < races; i++) {
      mkdirSync(join(directory, String(i)));
      const stale = { id, ...thisProcess(), pid };
      writeFileSync(join(directory, String(i), 'lock'), JSON.stringify(stale));
    }
    const racer = fileURLToPath(new URL('lock-racer.fixture.mjs', import.meta.url));
    const children = ['a', 'b', 'c'].map((name) =>
      spawn(process.execPath, [racer, directory, name, 'abc', String(races)], {
        stdio: ['ignore', 'inherit', 'inherit'],
      }),
    );
    const codes = await Promise.all(children.map(exitOf));
    expect(codes).toEqual([0, 0, 0]);
    for (let i = 0; i < races; i++) {
      const held = readdirSync(join(directory, String(i))).filter((name) =>
        name.startsWith('held-'),
      );
      expect(held.length, `race ${i}: ${held.join(' and ')}`).toBe(1);
      const lock = readFileSync(join(directory, String(i), 'lock'), 'utf8');
      const holder = readFileSync(join(directory, String(i), held[0] ?? ''), 'utf8');
      expect((JSON.parse(lock) as { pid: number }).pid).toBe(Number(holder));
    }
  }, 240_000);
});

async function exitOf(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}
