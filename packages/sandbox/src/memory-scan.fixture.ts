/** Looks through the whole memory of a process for what must not be there; as root, on Linux. */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

const pieceBytes = 4 * 2 ** 20;
/** Longer than any needle. */
const overlapBytes = 256;

export interface Scan {
  /** Names of the needles that are in its memory. */
  readonly found: readonly string[];
  readonly bytes: number;
}

/** @throws if its memory cannot be read */
export function scanMemory(pid: number, needles: Readonly<Record<string, Buffer>>): Scan {
  const found = new Set<string>();
  let bytes = 0;
  const piece = Buffer.alloc(pieceBytes);
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    for (const [start, end] of regionsOf(pid)) {
      for (let at = start; at < end; at += BigInt(pieceBytes - overlapBytes)) {
        const size = Math.min(pieceBytes, Number(end - at));
        const read = readAt(memory, piece, size, at);
        bytes += read;
        for (const [name, needle] of Object.entries(needles)) {
          if (!found.has(name) && piece.subarray(0, read).includes(needle)) found.add(name);
        }
      }
    }
  } finally {
    closeSync(memory);
  }
  return { found: [...found].sort(), bytes };
}

function readAt(file: number, piece: Buffer, size: number, at: bigint): number {
  try {
    return readSync(file, piece, 0, size, at);
  } catch {
    return 0; // what the kernel shows of itself
  }
}

function regionsOf(pid: number): (readonly [bigint, bigint])[] {
  return (
    readFileSync(`/proc/${pid}/maps`, 'utf8')
      .split('\n')
      // All but what only shows a file.
      .filter(
        (line) => / r/.test(line) && !/ r-[-x][ps] .* \/(?!memfd:)|\[v(var|syscall|dso)/.test(line),
      )
      .map((line) => {
        const [start = '0', end = '0'] = line.split(' ', 1)[0]?.split('-') ?? [];
        return [BigInt(`0x${start}`), BigInt(`0x${end}`)] as const;
      })
  );
}

/** Living processes below `root`, parents before their children. */
export function processesBelow(root: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state !== 'Z') parents.set(Number(entry), Number(parent));
    } catch {
      // ended while we looked
    }
  }
  const found: number[] = [];
  const add = (pid: number): void => {
    for (const [child, parent] of parents) {
      if (parent !== pid || found.includes(child)) continue;
      found.push(child);
      add(child);
    }
  };
  add(root);
  return found;
}
