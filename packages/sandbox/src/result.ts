/** From what the server saw of a session's process, to outcomes of code that said nothing itself. */
import type { Limits } from './limits.ts';
import type { CodeError, Outcome, OutcomeKind } from './outcome.ts';

/** How the server saw a session's process end. */
export interface End {
  /**
   * `close` on our order, `timeout` of wall time, `memory` where the kernel ended a process of it,
   * `protocol` for what is no reply, else `exit`.
   */
  readonly cause: string;
  /** With `protocol`: what it did, in words that follow `by`. */
  readonly reason?: string;
  readonly signal: number;
  readonly exitCode: number;
  readonly cpuMs: number;
  readonly maxRssKb: number;
}

/** Why a session runs no more code. */
export interface Death {
  readonly kind: OutcomeKind;
  readonly message: string;
}

const sigxcpu = 24;

/** The outcome of an execution that told nothing itself. */
export function silentOutcome(
  { kind, message }: Death,
  tier: string,
  usage: { wallMs: number; cpuMs: number; maxRssKb: number } = none,
): Outcome {
  const error: CodeError = { type: errorTypes[kind] ?? 'Error', message, traceback: '' };
  const { wallMs, cpuMs, maxRssKb } = usage;
  const nothing = { stdout: '', stderr: '', images: [], truncated: [] };
  return { kind, ...nothing, error, wallMs, cpuMs: Math.max(0, cpuMs), maxRssKb, tier };
}

const none = { wallMs: 0, cpuMs: 0, maxRssKb: 0 };

const errorTypes: Partial<Record<OutcomeKind, string>> = {
  timeout: 'Timeout',
  memory: 'MemoryError',
  crashed: 'Crash',
  forbidden: 'Forbidden',
  infraError: 'SandboxError',
};

/** The kernel's reaction to a session that needs more memory than its limit. */
export function memoryDeath(limits: Limits): Death {
  const most = Math.round(limits.sessionMemoryBytes / 2 ** 20);
  const message =
    `The session's processes and files needed more than ${most} MiB of memory together, and the ` +
    'kernel ended a process. Hold less at a time.';
  return { kind: 'memory', message };
}

/** The outcome of an execution in whose time the kernel ended a process for the session's memory. */
export function asMemoryHit(outcome: Outcome, limits: Limits): Outcome {
  if (outcome.kind === 'memory') return outcome;
  const { kind, message } = memoryDeath(limits);
  return { ...outcome, kind, error: { type: 'MemoryError', message, traceback: '' } };
}

/** The death of the code that was running, judged by the end of its process. */
export function deathFrom(end: End, limits: Limits): Death {
  if (end.cause === 'timeout') {
    const message = `The code was stopped after ${limits.wallSeconds} s. Do less in one execution.`;
    return { kind: 'timeout', message };
  }
  if (end.cause === 'memory') return memoryDeath(limits);
  if (end.signal === sigxcpu) {
    const message = `The code used more than ${limits.cpuSeconds} s of processor time and was stopped.`;
    return { kind: 'timeout', message };
  }
  if (end.cause === 'fork') {
    const message = 'The code was not run: the session could not make another process for it.';
    return { kind: 'crashed', message };
  }
  if (end.cause === 'close') return { kind: 'crashed', message: 'The session was ended.' };
  const how =
    end.cause === 'protocol'
      ? `by ${end.reason || 'writing to the channel of its results'}`
      : end.signal !== 0
        ? `by signal ${end.signal}`
        : `with exit status ${end.exitCode}`;
  return { kind: 'crashed', message: `The code ended the interpreter ${how}.` };
}
