import { existsSync, writeFileSync } from 'node:fs';
import { ConfigError, DataError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { explainError } from './explain-error.ts';

function thrownBy(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}

describe('an error on the command line', () => {
  it('is its own message, with exit code 2 for configuration and 1 for the rest', () => {
    expect(explainError(new ConfigError('rl.steps', 'no'))).toEqual({
      message: 'no',
      exitCode: 2,
      isKnown: true,
    });
    expect(explainError(new DataError('broken')).exitCode).toBe(1);
  });

  // /dev/full is a file that is always full.
  it.runIf(existsSync('/dev/full'))('says that the disk is full, wherever in the chain', () => {
    const error = thrownBy(() => writeFileSync('/dev/full', 'x'));
    const wrapped = new Error('while logging', { cause: error });
    for (const thrown of [error, wrapped]) {
      const { message, isKnown } = explainError(thrown);
      expect(message).toMatch(/The disk is full.*--resume/);
      expect(isKnown).toBe(true);
    }
  });

  it('keeps the stack of what nobody expected', () => {
    expect(explainError(new TypeError('x is not a function'))).toEqual({
      message: 'x is not a function',
      exitCode: 1,
      isKnown: false,
    });
  });
});
