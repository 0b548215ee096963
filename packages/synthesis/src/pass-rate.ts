/** How often a model answers a task right: measured once, written beside the data, read again. */
import { join } from 'node:path';
import type { Task } from '@saccade/gym';
import { isToolUse } from '@saccade/trajectory';
import type { Player, SynthesisContext } from './context.ts';
import { openLines, readLines } from './lines.ts';
import { type PlayOptions, playTasks } from './play-tasks.ts';

/** The pass rate of one task. */
export interface PassRate {
  readonly taskId: string;
  /** Trajectories that ended, whether right or wrong. */
  readonly samples: number;
  readonly right: number;
  /** right / samples; absent where every trajectory failed. */
  readonly rate?: number;
  /** Tool turns a trajectory, mean. */
  readonly toolTurns: number;
}

/** How a pass rate is measured. */
export interface PassRateOptions extends Pick<PlayOptions, 'protocol' | 'samples'> {
  readonly player: Player;
  /** Name of the step; default `pass-rates`. */
  readonly name?: string;
}

/**
 * Pass rates of tasks, in their order. They are written to `<name>.jsonl` of the directory, and the
 * trajectories to `<name>-samples.jsonl`; a second call with the same tasks reads them.
 */
export async function measurePassRates(
  tasks: readonly Task[],
  { name = 'pass-rates', ...options }: PassRateOptions,
  context: SynthesisContext,
): Promise<readonly PassRate[]> {
  const path = join(context.directory, `${name}.jsonl`);
  const known = new Map((await readLines<PassRate>(path)).map((row) => [row.taskId, row]));
  if (tasks.every(({ id }) => known.get(id) !== undefined)) {
    return tasks.map(({ id }) => known.get(id) as PassRate);
  }
  const played = await playTasks(tasks, { ...options, name: `${name}-samples` }, context);
  const write = await openLines(path);
  const rates: PassRate[] = [];
  for (const [index, { id }] of tasks.entries()) {
    const own = played.slice(index * options.samples, (index + 1) * options.samples);
    const ended = own.filter(({ trajectory }) => trajectory.stopReason !== 'failed');
    const right = ended.filter(({ isCorrect }) => isCorrect).length;
    const calls = ended.flatMap(({ trajectory }) =>
      trajectory.turns.filter(({ action }) => isToolUse(action)),
    ).length;
    const rate: PassRate = {
      ...{ taskId: id, samples: ended.length, right },
      ...(ended.length > 0 && { rate: right / ended.length }),
      toolTurns: ended.length === 0 ? 0 : calls / ended.length,
    };
    rates.push(rate);
    if (!known.has(id)) await write(rate);
  }
  return rates;
}
