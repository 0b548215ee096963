import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnsupportedError } from '@saccade/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeOwnScratch } from './own-scratch.ts';

describe('the folder of a server whose sessions are other users', () => {
  const before = process.env.TMPDIR;
  let folder = '';

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'own-scratch-'));
    await chmod(folder, 0o755);
    await mkdir(join(folder, 'within'), { mode: 0o755 });
    process.env.TMPDIR = join(folder, 'within');
  });

  afterEach(async () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await rm(folder, { recursive: true });
  });

  it('can be passed through by them', async () => {
    const scratch = await makeOwnScratch(true);
    expect((await stat(scratch)).mode & 0o777).toBe(0o711);
  });

  it('is refused below a private folder, which is named, and nothing is left', async () => {
    await chmod(folder, 0o700);
    const made = makeOwnScratch(true);
    await expect(made).rejects.toThrow(UnsupportedError);
    await expect(made).rejects.toThrow(`${folder} is closed to them`);
    expect(await readdir(join(folder, 'within'))).toEqual([]);
  });

  it('may lie in a private folder where sessions run as the same user', async () => {
    await chmod(folder, 0o700);
    expect(await makeOwnScratch(false)).toContain(folder);
  });
});
