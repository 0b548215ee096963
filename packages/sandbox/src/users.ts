/** As root, every session becomes a user of its own; which numbers are free to take. */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface SessionUsers {
  /** First of the numbers, or null where we are not root or have no others. */
  readonly base: number | null;
  /** Whether nobody else uses these numbers, so that all their processes may be ended. */
  readonly isExclusive: boolean;
  /** Whether our user is the kernel's root, and not only a container's. */
  readonly isKernelRoot: boolean;
}

/** Far above what distributions, containers and directories give out. */
const highBase = 0x4000_0000;
const spread = 0x1000;
/** For containers that know 65 536 users only. */
const lowBase = 64_000;

/** How many numbers from a base that `chooseUsers` gave are free to take. */
export function usersFrom(base: number): number {
  return base === lowBase ? 0x1_0000 - lowBase : spread;
}

/** The server is root there, and nobody else's numbers count. */
export const usersOfOwnKernel: SessionUsers = {
  base: 100_000,
  isExclusive: true,
  isKernelRoot: true,
};

export function chooseUsers(): SessionUsers {
  if (process.getuid?.() !== 0) return { base: null, isExclusive: false, isKernelRoot: false };
  const map = readUserMap();
  const covers = (id: number): boolean =>
    map.some(([inside, , count]) => inside <= id && id < inside + count);
  const isKernelRoot = map.some(([inside, outside]) => inside === 0 && outside === 0);
  const base = highBase + randomInt(spread) * spread;
  if (covers(base) && covers(base + spread)) return { base, isExclusive: true, isKernelRoot };
  if (covers(lowBase)) return { base: lowBase, isExclusive: false, isKernelRoot };
  return { base: null, isExclusive: false, isKernelRoot };
}

/** Lines of (first inside, first outside, count); everything where there are no user namespaces. */
function readUserMap(): [number, number, number][] {
  try {
    const lines = readFileSync('/proc/self/uid_map', 'utf8').trim().split('\n');
    return lines.map((line) => {
      const [inside = 0, outside = 0, count = 0] = line.trim().split(/\s+/).map(Number);
      return [inside, outside, count];
    });
  } catch {
    return [[0, 0, 0xffff_ffff]];
  }
}
