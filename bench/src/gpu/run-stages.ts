/** Runs the stages of a GPU run, each in processes of its own: one that fails or hangs costs no other. */
import { spawn } from 'node:child_process';

export interface StageCommand {
  /** As the log and the report call it: `checks-bf16`. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * For one that may end in the middle: whether there is more to do, and with what it is started
   * again. How much there is must grow with every start.
   */
  readonly again?: { readonly args: readonly string[]; progress(): number | 'done' };
}

export interface Stage {
  /** Run side by side. */
  readonly commands: readonly StageCommand[];
  /** Budget; a process that takes a few seconds more is ended. */
  readonly seconds: number;
}

export interface StageOutcome {
  readonly name: string;
  /** Exit status; absent if it was ended or never began. */
  readonly status?: number;
  readonly how: 'ended' | 'out of time' | 'not started' | 'no time left';
  readonly seconds: number;
  /** How often it was started. */
  readonly starts: number;
  /** The last of what it said on either stream. */
  readonly said: string;
}

/** To end by itself what it began, and write down what is available. */
const GRACE_SECONDS = 3;
const KEPT_CHARS = 20_000;

/**
 * One stage after the other.
 *
 * @param seconds   for all; a stage gets its budget or what is left
 * @param onOutput  gets what processes say as they say it
 * @param onStage   called after each stage with all outcomes so far
 */
export async function runStages(
  stages: readonly Stage[],
  seconds: number,
  onOutput: (text: string) => void = () => {},
  onStage: (outcomes: readonly StageOutcome[]) => void = () => {},
): Promise<readonly StageOutcome[]> {
  const end = performance.now() + 1000 * seconds;
  const outcomes: StageOutcome[] = [];
  for (const stage of stages) {
    const left = (end - performance.now()) / 1000;
    const ended = stage.commands.map((command) =>
      left > 1
        ? runAgain(command, Math.min(stage.seconds, left), onOutput)
        : { name: command.name, how: 'no time left' as const, seconds: 0, starts: 0, said: '' },
    );
    outcomes.push(...(await Promise.all(ended)));
    onStage(outcomes);
  }
  return outcomes;
}

/** Runs a command until it is done, its time is up, or it gets no further. */
async function runAgain(
  command: StageCommand,
  seconds: number,
  onOutput: (text: string) => void,
): Promise<StageOutcome> {
  const { again } = command;
  const start = performance.now();
  const elapsed = (): number => (performance.now() - start) / 1000;
  let said = '';
  let before = -1;
  for (let starts = 1; ; starts++) {
    const args = starts === 1 ? command.args : [...command.args, ...(again?.args ?? [])];
    const ended = await runOnce({ ...command, args }, seconds - elapsed(), onOutput);
    said = (said + ended.said).slice(-KEPT_CHARS);
    const progress = again?.progress() ?? 'done';
    const isOver = progress === 'done' || progress <= before || ended.how !== 'ended';
    if (isOver || seconds - elapsed() < 1) return { ...ended, said, starts, seconds: elapsed() };
    before = progress;
  }
}

function runOnce(
  { name, command, args, environment }: StageCommand,
  seconds: number,
  onOutput: (text: string) => void,
): Promise<Omit<StageOutcome, 'starts'>> {
  const start = performance.now();
  let said = '';
  const hear = (text: string): void => {
    said = (said + text).slice(-KEPT_CHARS);
    onOutput(text);
  };
  // A group of its own, so that what it started ends with it.
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  child.stdout.on('data', (chunk: Buffer) => hear(chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => hear(chunk.toString()));
  let isLate = false;
  const signal = (kind: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, kind);
    } catch {
      // All of the group has ended.
    }
  };
  const timers = [
    setTimeout(() => {
      isLate = true;
      signal('SIGTERM');
    }, 1000 * seconds),
    setTimeout(() => signal('SIGKILL'), 1000 * (seconds + GRACE_SECONDS)),
  ];
  return new Promise((resolve) => {
    const finish = (outcome: Pick<StageOutcome, 'how' | 'status'>): void => {
      for (const timer of timers) clearTimeout(timer);
      resolve({ name, ...outcome, seconds: (performance.now() - start) / 1000, said });
    };
    child.on('error', (error) => {
      hear(`${name}: ${error.message}\n`);
      finish({ how: 'not started' });
    });
    child.on('close', (status) =>
      finish({ how: isLate ? 'out of time' : 'ended', ...(status !== null && { status }) }),
    );
  });
}
