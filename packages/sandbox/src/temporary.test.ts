import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { makeTemporary, removeTree, sweepTemporaries } from './temporary.ts';

it('removes directories whose owner is gone, and no others', async () => {
  const mine = await makeTemporary('canary');
  const child = spawn('true');
  await once(child, 'exit');
  const dead = mine.replace(`-${process.pid}-`, `-${child.pid}-`);
  const left = mkdtempSync(dead);
  // A directory of another container, where the number may well be in use.
  const foreign = mkdtempSync(
    join(tmpdir(), basename(dead).replace(/^(saccade-canary-)\d+/, '$11')),
  );
  await sweepTemporaries();
  expect([mine, left, foreign].map((path) => existsSync(path))).toEqual([true, false, true]);
  await removeTree(mine);
  rmSync(foreign, { recursive: true });
});
