/** Errors and damage of a run directory: the file, the problem and the remedy. */
import { DataError, messageOf, SaccadeError } from '@saccade/core';

/** One file that is not as it was written. Readers collect these; `describeDamage` prints one. */
export interface Damage {
  readonly path: string;
  /** A sentence without its full stop. */
  readonly problem: string;
  /** A sentence with its full stop. */
  readonly remedy: string;
}

/** A value with the damage that was found on the way to it. */
export interface Read<T> {
  readonly value: T;
  readonly damage: readonly Damage[];
}

/** A file of a run directory cannot be read or written. */
export class StoreError extends DataError implements Damage {
  readonly path: string;
  readonly problem: string;
  readonly remedy: string;

  constructor({ path, problem, remedy }: Damage, options?: { cause?: unknown }) {
    super(describeDamage({ path, problem, remedy }), options);
    this.path = path;
    this.problem = problem;
    this.remedy = remedy;
  }
}

/** One line. */
export function describeDamage({ path, problem, remedy }: Damage): string {
  return oneLine(`${path}: ${problem}. ${remedy}`);
}

/** Text without line breaks and control characters, so that a message stays one line. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
}

interface SystemProblem {
  readonly problem: string;
  readonly remedy: string;
}

const SYSTEM_PROBLEMS: Readonly<Record<string, SystemProblem>> = {
  ENOSPC: { problem: 'the disk is full', remedy: 'Free some space, then continue with --resume.' },
  EDQUOT: {
    problem: 'the disk quota is used up',
    remedy: 'Free some space, then continue with --resume.',
  },
  EROFS: { problem: 'the file system is read-only', remedy: 'Choose a directory on another one.' },
  EACCES: {
    problem: 'permission is denied',
    remedy: 'Change the permissions, or choose another directory.',
  },
  EPERM: {
    problem: 'permission is denied',
    remedy: 'Change the permissions, or choose another directory.',
  },
  ENOENT: { problem: 'it is missing', remedy: 'Check the path, or restore the file.' },
  ENOTDIR: {
    problem: 'a file stands where a directory is needed',
    remedy: 'Move that file away, or choose another directory.',
  },
  EISDIR: {
    problem: 'a directory stands where a file is needed',
    remedy: 'Move that directory away, or choose another directory.',
  },
  EIO: {
    problem: 'the disk reports an error',
    remedy: 'Check the disk, then continue with --resume.',
  },
  EMFILE: { problem: 'too many files are open', remedy: 'Raise the limit with ulimit -n.' },
};

/** The code that the operating system gave, from an error or one of its causes. */
export function codeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (code !== undefined && code in SYSTEM_PROBLEMS) return code;
    // A typed error says itself what is full, and where: it may be a disk of another machine.
    if (at instanceof SaccadeError) continue;
    const named = /\b(ENOSPC|EDQUOT|EROFS|EIO)\b/.exec(at.message)?.[1];
    if (named !== undefined) return named;
  }
  return undefined;
}

/** The damage that an error means for a file. */
export function damageOf(path: string, error: unknown): Damage {
  if (error instanceof StoreError) {
    return { path: error.path, problem: error.problem, remedy: error.remedy };
  }
  const known = SYSTEM_PROBLEMS[codeOf(error) ?? ''];
  if (known !== undefined) return { path, ...known };
  return {
    path,
    problem: oneLine(messageOf(error)).replace(/\.$/, ''),
    remedy: 'Restore the file.',
  };
}

/** The typed error for anything thrown while a file was read or written. */
export function storeError(path: string, error: unknown): StoreError {
  return error instanceof StoreError
    ? error
    : new StoreError(damageOf(path, error), { cause: error });
}

/**
 * The value of a read, where it is required.
 *
 * @throws StoreError with the first damage
 */
export function needed<T>({ value, damage }: Read<T | undefined>): T {
  const [first] = damage;
  if (value !== undefined) return value;
  throw new StoreError(
    first ?? { path: 'run', problem: 'it is missing', remedy: 'Check the path.' },
  );
}
