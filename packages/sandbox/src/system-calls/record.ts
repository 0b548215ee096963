/** Runs the exercises in a tier, and reads from strace's notes what sessions asked the kernel for. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { openSandbox } from '../open-sandbox.ts';
import { pythonSources } from '../python-environment.ts';
import type { LocalTier } from '../tiers.ts';
import { exercises, failing } from './exercises.ts';

/** Room for tracing, which makes every call a hundred times slower. */
const limits = {
  wallSeconds: 120,
  cpuSeconds: 120,
  memoryBytes: 4 * 2 ** 30,
  sessionMemoryBytes: 8 * 2 ** 30,
  fileBytes: 256 * 2 ** 20,
  diskBytes: 512 * 2 ** 20,
  processes: 64,
  openFiles: 256,
};

/** The errors of the exercises that failed; empty where all are done. */
export async function runExercises(python: string, tier: LocalTier): Promise<readonly string[]> {
  const sandbox = await openSandbox({
    python,
    isolation: tier,
    unsafe: true,
    forbidden: [],
    limits,
    maxSessions: 2,
  });
  const failures: string[] = [];
  try {
    for (const { name, code, mode = 'persistent' } of exercises) {
      const session = await sandbox.open({ mode });
      const { kind, stdout, error } = await session.execute(code);
      if (kind !== 'ok' || !stdout.endsWith('done\n')) {
        failures.push(`${name}: ${kind}: ${error?.traceback ?? stdout}`);
      }
      if (mode === 'transactional') {
        await session.execute(failing);
        const after = await session.execute(
          'import os\nprint(open("kept").read(), sorted(os.listdir()))',
        );
        if (after.stdout !== "1 ['folder', 'kept', 'pipe']\n") {
          failures.push(`${name}: not restored: ${after.stdout}${after.error?.traceback ?? ''}`);
        }
      }
      await session.dispose();
    }
  } finally {
    await sandbox.dispose();
  }
  return failures;
}

/**
 * Names of the calls that sessions made, and how often.
 *
 * @param trace  lines of `strace -f --decode-pids=pidns`: calls with their process's number in front.
 *   A process counts from the moment it has a filter of its own, and so do all it starts.
 */
export function callsOfSessions(trace: string): ReadonlyMap<string, number> {
  const confined = new Set<string>();
  const counts = new Map<string, number>();
  for (const line of trace.split('\n')) {
    const [, pid = '', resumed, called] =
      /^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\()/.exec(line) ?? [];
    if (pid === '') {
      if (/\+\+\+ (?:exited|killed)/.test(line)) confined.delete(line.split(' ')[0] ?? '');
      continue;
    }
    const name = resumed ?? called ?? '';
    if (confined.has(pid)) {
      if (called !== undefined) counts.set(called, (counts.get(called) ?? 0) + 1);
      const child = startedBy(name, line);
      if (child !== undefined) confined.add(child);
    } else if (/^(?:prctl|seccomp)$/.test(name) && /SECCOMP_(?:SET_)?MODE_FILTER/.test(line)) {
      confined.add(pid);
    }
  }
  return counts;
}

function startedBy(name: string, line: string): string | undefined {
  if (!/^(?:clone3?|v?fork)$/.test(name)) return undefined;
  const found = /= (\d+)(?: \/\* (\d+) in strace)?/.exec(line);
  return found?.[2] ?? found?.[1];
}

/** The calls on the list, by name. */
export async function listedCalls(
  python: string,
): Promise<{ readonly allowed: ReadonlySet<string>; readonly refused: ReadonlySet<string> }> {
  const script =
    'import json, system_calls as s; print(json.dumps([[*s.ALLOWED, *s.CHECKED, *s.METADATA], [*s.REFUSED, *s.NETWORK, *s.FALLS_BACK]]))';
  const text = await promisify(execFile)(python, ['-c', script], {
    env: { PYTHONPATH: pythonSources, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const [allowed, refused] = JSON.parse(text.stdout) as [string[], string[]];
  return { allowed: new Set(allowed), refused: new Set(refused) };
}
