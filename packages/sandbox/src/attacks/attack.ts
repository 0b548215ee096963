/** An attack on the sandbox as data: what is tried, and how it must end in each tier. */

import type { Guarantees } from '../guarantees.ts';
import type { CaptureOptions } from '../session.ts';

/**
 * - `refused` the code got an error and nothing else;
 * - `stopped` the session was ended (time, memory, signal) and nobody else noticed;
 * - `harmless` it ran, and reached nothing;
 * - `open` it reached what it should not;
 * - `untried` it would reach the machine itself, or says nothing in this tier.
 */
export type Verdict = 'refused' | 'stopped' | 'harmless' | 'open' | 'untried';

/** In the tier `process` and, where it differs, when not started as root. */
export interface Expectation {
  readonly bubblewrap: Verdict;
  readonly landlock: Verdict;
  readonly process: Verdict;
  readonly landlockAsUser?: Verdict;
  readonly processAsUser?: Verdict;
  /** Where they differ from bubblewrap's. */
  readonly gvisor?: Verdict;
  readonly 'micro-vm'?: Verdict;
}

export type AttackGroup = 'resources' | 'escape' | 'other sessions' | 'reward' | 'replies';

/**
 * One attempt of session code to break out, exhaust the machine, or forge a result, with the end
 * that each tier must give it.
 */
export interface Attack {
  readonly name: string;
  readonly group: AttackGroup;
  /**
   * Python, after `preamble`: it prints a line with `REACHED` where it gets what it is after. May
   * use `HOST_FILE`, `HOST_IMAGE`, `HOST_PORT`, `HOST_SOCKET`, `HOST_POST`, `SERVER`, `VICTIM`
   * (process numbers) and `VICTIM_DIRECTORY`.
   */
  readonly code: string;
  /** Options to return more than its session shows; a returned `HOST_IMAGE` counts as reached. */
  readonly capture?: CaptureOptions;
  readonly expected: Expectation;
  /** Stopped by this guarantee where it is `session`; open where it is less. */
  readonly needs?: keyof Guarantees;
  /** Makes no sense on others. */
  readonly architecture?: 'x64';
  /** Ends only by its limit, so it runs with shorter ones and alone. */
  readonly isBomb?: boolean;
}

/** The same end in all tiers. */
export function everywhere(verdict: Verdict): Expectation {
  return { bubblewrap: verdict, landlock: verdict, process: verdict };
}

/** Expects `verdict` of the isolated tiers, and `inProcess` of plain processes. */
export function isolatedOnly(verdict: Verdict, inProcess: Verdict = 'open'): Expectation {
  return { bubblewrap: verdict, landlock: verdict, process: inProcess };
}

/** Python that every attack may use: `attempt` and the system calls that Python has no names for. */
export const preamble = `
import ctypes, errno, os, sys, time
def attempt(name, action):
    try:
        value = action()
    except BaseException as error:
        print("refused", name, type(error).__name__, error)
    else:
        print("REACHED", name, repr(value)[:60])
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(x86, arm, *arguments):
    number = arm if os.uname().machine == "aarch64" else x86
    result = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
`;
