/** Processor time of processes and of all that descend from them, as Linux counts it. */
import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second: constant on Linux, whatever the kernel's own are. */
const TICKS = 100;

interface ProcessTimes {
  readonly parent: number;
  /** Seconds of its own, and of children that have ended and were waited for. */
  readonly seconds: number;
}

/**
 * Seconds on processors of these processes, of their descendants, and of those of them that have ended.
 *
 * @returns undefined where there is no /proc
 */
export function treeProcessorSeconds(roots: readonly number[]): number | undefined {
  const processes = readProcesses();
  if (processes === undefined) return undefined;
  const children = new Map<number, number[]>();
  for (const [pid, { parent }] of processes) {
    const known = children.get(parent);
    if (known === undefined) children.set(parent, [pid]);
    else known.push(pid);
  }
  const seen = new Set<number>();
  let seconds = 0;
  const open = [...roots];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    if (seen.has(pid)) continue;
    seen.add(pid);
    seconds += processes.get(pid)?.seconds ?? 0;
    open.push(...(children.get(pid) ?? []));
  }
  return seconds;
}

function readProcesses(): ReadonlyMap<number, ProcessTimes> | undefined {
  let names: readonly string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return undefined;
  }
  const processes = new Map<number, ProcessTimes>();
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const times = readTimes(name);
    if (times !== undefined) processes.set(Number(name), times);
  }
  return processes.size > 0 ? processes : undefined;
}

/** proc(5): after the name in parentheses, the parent is field 4, the times are fields 14 to 17. */
function readTimes(pid: string): ProcessTimes | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), seconds: ticks / TICKS };
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}
