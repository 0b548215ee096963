/** Processes of a training that can be killed and held, and are looked for when all is over. */
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A variable of every process of a plan, by which leftovers are found. */
const MARK = 'SACCADE_FAULT_PLAN';

/** A command, where it writes, and what its plan is called. */
interface ProcessOptions {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Everything that it prints, of all its starts. */
  readonly log: string;
  readonly mark: string;
}

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

export class FaultProcess {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';
  #hasEnded = false;

  constructor({ command, env = {}, log, mark }: ProcessOptions) {
    const [file = '', ...args] = command;
    this.#child = spawn(file, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env, [MARK]: mark, NO_COLOR: '1' },
    });
    this.pid = this.#child.pid ?? 0;
    this.#child.stdout?.on('data', (chunk) => {
      this.#stdout += chunk;
      appendFileSync(log, chunk);
    });
    this.#child.stderr?.on('data', (chunk) => {
      this.#stderr += chunk;
      appendFileSync(log, chunk);
    });
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        this.#hasEnded = true;
        appendFileSync(log, `-- ended with ${signal ?? code}\n`);
        resolve({ code, signal, stderr: this.#stderr });
      });
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The port that it says it listens at. @throws if it ends before */
  async port(seconds: number): Promise<number> {
    const until = Date.now() + 1000 * seconds;
    for (;;) {
      const found = / at http:\/\/127\.0\.0\.1:(\d+)/.exec(this.#stdout)?.[1];
      if (found !== undefined) return Number(found);
      if (this.#hasEnded || Date.now() > until) {
        throw new Error(`There is no address in what it said:\n${this.#stdout}${this.#stderr}`);
      }
      await sleep(20);
    }
  }

  /** Kills it, and waits until it is gone. */
  async kill(): Promise<Ended> {
    if (!this.#hasEnded) {
      signal(this.pid, 'SIGCONT');
      signal(this.pid, 'SIGKILL');
    }
    return await this.ended;
  }

  /** Asks it to end, and kills it if it does not. */
  async end(seconds: number): Promise<void> {
    if (this.#hasEnded) return;
    signal(this.pid, 'SIGCONT');
    signal(this.pid, 'SIGTERM');
    const late = new AbortController();
    const slow = sleep(1000 * seconds, 'late', { signal: late.signal }).catch(() => 'ended');
    if ((await Promise.race([this.ended, slow])) === 'late') await this.kill();
    late.abort();
  }
}

/** Sends a signal to a process that may be gone. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    if (pid > 0) process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Holds a process for a while; it may be killed meanwhile. */
export async function hold(pid: number, seconds: number): Promise<void> {
  signal(pid, 'SIGSTOP');
  await sleep(1000 * seconds);
  signal(pid, 'SIGCONT');
}

/** Processes of a plan that run, by number. */
export function living(mark: string): readonly number[] {
  return marked((environment) => environment.includes(`${MARK}=${mark}`));
}

/** The process of a plan that is a rank of the worker's group. */
export function rankOf(mark: string, rank: number): number | undefined {
  const [pid] = marked(
    (environment) =>
      environment.includes(`${MARK}=${mark}`) && environment.includes(`RANK=${rank}`),
  );
  return pid;
}

function marked(isOurs: (environment: readonly string[]) => boolean): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        if (stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')) return false;
        return isOurs(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0'));
      } catch {
        // It ended while we looked.
        return false;
      }
    })
    .map(Number);
}
