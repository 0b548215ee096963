/** How much memory a fork server holds, which makes every fork of it slower. */
import { readFile } from 'node:fs/promises';

/** Between what we start and the interpreter: bubblewrap and its own first process. */
const deepest = 4;

/** Resident bytes of the interpreter at or below process `pid`; undefined where it cannot be seen. */
export async function interpreterBytes(pid: number): Promise<number | undefined> {
  let current = pid;
  try {
    for (let depth = 0; depth < deepest; depth++) {
      const status = await readFile(`/proc/${current}/status`, 'utf8');
      if (/^Name:\s*python/m.test(status)) {
        const found = /^VmRSS:\s*(\d+) kB/m.exec(status);
        return found === null ? undefined : Number(found[1]) * 1024;
      }
      const children = await readFile(`/proc/${current}/task/${current}/children`, 'utf8');
      current = Number.parseInt(children, 10);
    }
  } catch {
    // Gone, or no Linux.
  }
  return undefined;
}
