import { expect, it } from 'vitest';
import { importOptional, MissingError, missingPackage } from './index.ts';

it('returns the module of a package that is there', async () => {
  const path = await importOptional('path@1', 'Joining paths', () => import('node:path'));
  expect(path.join('a', 'b')).toBe('a/b');
});

it('names a package that is not installed and the command that installs it', async () => {
  const name = 'saccade-has-no-such-package';
  const load = () => import(/* @vite-ignore */ `${name}`);
  await expect(importOptional(`${name}@2`, 'Reading JPEG images', load)).rejects.toThrow(
    new MissingError(
      'Reading JPEG images needs the package saccade-has-no-such-package, which is not installed. ' +
        'Run `npm install saccade-has-no-such-package@2`.',
    ),
  );
});

it('keeps the words of a package that is there and does not load, scoped or not', () => {
  const cause = new Error('GLIBC_2.38 not found');
  const error = missingPackage('@img/sharp@0.35', 'Drawing', cause);
  expect(error.message).toMatch(
    /package @img\/sharp, which does not load: GLIBC_2\.38 not found\./,
  );
  expect(error.cause).toBe(cause);
});
