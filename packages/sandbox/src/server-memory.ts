/** How much memory a fork server holds, which makes every fork of it slower. */
import { readFile } from 'node:fs/promises';

/** Between what we start and what forks: bubblewrap, its own first process, the supervisor. */
const deepest = 5;

/**
 * Resident bytes of the interpreters at or below process `pid`, each the first child of the one before:
 * the supervisor and the nursery; undefined where they cannot be seen.
 */
export async function interpreterBytes(pid: number): Promise<number | undefined> {
  let bytes: number | undefined;
  try {
    for (let current = pid, depth = 0; depth < deepest && current > 0; depth++) {
      const status = await readFile(`/proc/${current}/status`, 'utf8');
      const isPython = /^Name:\s*python/m.test(status);
      const resident = /^VmRSS:\s*(\d+) kB/m.exec(status);
      if (isPython && resident !== null) bytes = (bytes ?? 0) + Number(resident[1]) * 1024;
      const children = await readFile(`/proc/${current}/task/${current}/children`, 'utf8');
      current = Number.parseInt(children, 10) || 0;
    }
  } catch {
    // Gone, or no Linux.
  }
  return bytes;
}
