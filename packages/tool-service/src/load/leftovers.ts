/** Processes, sockets and files that a load leaves behind; there should be none. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';

/** The processes, sockets and files at one time; on systems without /proc, files alone. */
export interface Belongings {
  /**
   * Processes that descend from this one, or whose command or environment names the folder for
   * temporary files: number and command.
   */
  readonly processes: readonly string[];
  /** Sockets and pipes of this process. */
  readonly sockets: number;
  /** Entries of the folder for temporary files: name one of your own in TMPDIR. */
  readonly files: readonly string[];
}

/** Looks at what there is now. */
export async function belongings(): Promise<Belongings> {
  const [processes, sockets, files] = await Promise.all([
    ownProcesses(),
    openSockets(),
    readdir(tmpdir()).catch(() => []),
  ]);
  return { processes, sockets, files: files.sort() };
}

/** The belongings that are in `after` but were not in `before`. */
export function newBelongings(before: Belongings, after: Belongings): Belongings {
  const added = (key: 'processes' | 'files'): readonly string[] =>
    after[key].filter((one) => !before[key].includes(one));
  return {
    processes: added('processes'),
    sockets: Math.max(0, after.sockets - before.sockets),
    files: added('files'),
  };
}

async function ownProcesses(): Promise<readonly string[]> {
  const entries = await readdir('/proc').catch(() => []);
  const all = await Promise.all(entries.filter((name) => /^\d+$/.test(name)).map(lookAt));
  const others = all.filter((one) => one !== undefined).filter(({ pid }) => pid !== process.pid);
  const own = new Set([process.pid]);
  for (let before = -1; before !== own.size; ) {
    before = own.size;
    for (const { pid, parent, isMarked } of others) {
      if (isMarked || own.has(parent)) own.add(pid);
    }
  }
  return others.flatMap(({ pid, command }) => (own.has(pid) ? [`${pid} ${command}`] : [])).sort();
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  /** It names our folder: it may have lost its parent. */
  readonly isMarked: boolean;
}

async function lookAt(pid: string): Promise<Process | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The command is in parentheses, and may hold some itself.
    const end = text.lastIndexOf(')');
    const command = text.slice(text.indexOf('(') + 1, end);
    const parent = Number(text.slice(end + 2).split(' ')[1]);
    const words = await Promise.all(
      ['cmdline', 'environ'].map((file) =>
        readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => ''),
      ),
    );
    // A folder that all share says nothing.
    const folder = tmpdir();
    const isMarked = basename(folder).startsWith('saccade-') && words.join().includes(folder);
    return { pid: Number(pid), parent, command, isMarked };
  } catch {
    return undefined;
  }
}

async function openSockets(): Promise<number> {
  const folder = '/proc/self/fd';
  const names = await readdir(folder).catch(() => []);
  const targets = await Promise.all(
    names.map((name) => readlink(`${folder}/${name}`).catch(() => '')),
  );
  return targets.filter((target) => /^(socket|pipe):/.test(target)).length;
}
