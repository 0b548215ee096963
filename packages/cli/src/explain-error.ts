/** One clear message and an exit status for anything thrown. */
import { ConfigError, messageOf, SaccadeError } from '@saccade/core';

export interface Explanation {
  readonly message: string;
  /** 2 for a usage or configuration error, 1 for the rest. */
  readonly exitCode: number;
  /** False for a bug of ours: then the stack is worth seeing. */
  readonly isKnown: boolean;
}

/** Facts and remedies for what the operating system says. */
const SYSTEM_ERRORS: Readonly<Record<string, (path: string) => string>> = {
  ENOSPC: (path) =>
    `The disk is full${path}. Free some space, then continue with --resume; ` +
    'the checkpoints written so far are intact.',
  EDQUOT: (path) =>
    `The disk quota is used up${path}. Free some space, then continue with --resume.`,
  EACCES: (path) => `No permission${path}. Choose another directory with --out.`,
  EROFS: (path) => `The file system is read-only${path}. Choose another directory with --out.`,
  ENOTDIR: (path) => `A file stands where a directory is needed${path}. Choose another path.`,
};

/** The first system error in a chain of causes. */
function systemError(error: unknown): NodeJS.ErrnoException | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (code !== undefined && code in SYSTEM_ERRORS) return at;
  }
  return undefined;
}

export function explainError(error: unknown): Explanation {
  if (error instanceof SaccadeError) {
    const exitCode = error instanceof ConfigError ? 2 : 1;
    return { message: error.message, exitCode, isKnown: true };
  }
  const system = systemError(error);
  const explain = SYSTEM_ERRORS[system?.code ?? ''];
  if (system === undefined || explain === undefined) {
    return { message: messageOf(error), exitCode: 1, isKnown: false };
  }
  const path = system.path === undefined ? '' : ` at ${system.path}`;
  return { message: explain(path), exitCode: 1, isKnown: true };
}
