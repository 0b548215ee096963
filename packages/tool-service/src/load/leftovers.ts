/** What a load leaves behind in this process and on this machine: nothing, it should be. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';

/** What is there at one time; on systems without /proc, files alone. */
export interface Belongings {
  /** Processes that descend from this one: number and command. */
  readonly processes: readonly string[];
  /** Sockets and pipes of this process. */
  readonly sockets: number;
  /** Entries of the folder for temporary files: name one of your own in TMPDIR. */
  readonly files: readonly string[];
}

/** Looks at what there is now. */
export async function belongings(): Promise<Belongings> {
  const [processes, sockets, files] = await Promise.all([
    descendants(process.pid),
    openSockets(),
    readdir(tmpdir()).catch(() => []),
  ]);
  return { processes, sockets, files: files.sort() };
}

/** What is there now and was not before. */
export function newBelongings(before: Belongings, after: Belongings): Belongings {
  const added = (key: 'processes' | 'files'): readonly string[] =>
    after[key].filter((one) => !before[key].includes(one));
  return {
    processes: added('processes'),
    sockets: Math.max(0, after.sockets - before.sockets),
    files: added('files'),
  };
}

async function descendants(root: number): Promise<readonly string[]> {
  const entries = await readdir('/proc').catch(() => []);
  const all = await Promise.all(entries.filter((name) => /^\d+$/.test(name)).map(describe));
  const known = all.filter((one) => one !== undefined);
  const found: string[] = [];
  for (const open = [root]; ; ) {
    const parent = open.pop();
    if (parent === undefined) return found.sort();
    for (const { pid, parent: own, command } of known) {
      if (own !== parent) continue;
      open.push(pid);
      found.push(`${pid} ${command}`);
    }
  }
}

async function describe(
  pid: string,
): Promise<{ pid: number; parent: number; command: string } | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The command is in parentheses, and may hold some itself.
    const end = text.lastIndexOf(')');
    const command = text.slice(text.indexOf('(') + 1, end);
    const parent = Number(text.slice(end + 2).split(' ')[1]);
    return { pid: Number(pid), parent, command };
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
