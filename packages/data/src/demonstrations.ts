/** Demonstrations for the cold start: scripted trajectories, executed in the real sandbox. */
import { DataError, type EventSink, randomAt } from '@saccade/core';
import type { Task, TaskSet } from '@saccade/gym';
import type { Processor } from '@saccade/policy';
import { type MakeEnv, type ModelImages, runRollouts } from '@saccade/rollout';
import type { Trajectory } from '@saccade/trajectory';
import { createDemonstrator, type ScriptedTurn } from './demonstrator.ts';
import { answerText } from './model-text.ts';
import type { Script } from './script.ts';

export interface DemonstrateOptions {
  readonly taskSet: TaskSet;
  readonly makeEnv: MakeEnv;
  readonly processor: Processor;
  readonly script: Script;
  readonly seed: number;
  /** Demonstrations wanted; each of another task. */
  readonly count: number;
  /** First task index of the training split. */
  readonly firstTask?: number;
  readonly images?: ModelImages;
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  readonly onEvent?: EventSink;
  /** What progress is reported as. */
  readonly stage?: string;
}

/** Tasks whose pictures are in memory at a time. */
const CHUNK = 128;

/**
 * One demonstration per task, in task order, whatever the timing.
 *
 * @throws DataError if a script did not end in its answer, which means that environment or sandbox
 *   are broken
 */
export async function demonstrate(options: DemonstrateOptions): Promise<Trajectory[]> {
  const { taskSet, count, firstTask = 0, stage = 'demonstrations', onEvent } = options;
  const demonstrations: Trajectory[] = [];
  for (let done = 0; done < count; done += CHUNK) {
    const indices = Array.from({ length: Math.min(CHUNK, count - done) }, (_, i) => done + i);
    const tasks = await Promise.all(indices.map((i) => taskSet.task('train', firstTask + i)));
    demonstrations.push(...(await demonstrateTasks(tasks, options)));
    onEvent?.({
      kind: 'progress',
      stage,
      done: demonstrations.length,
      total: count,
    });
  }
  return demonstrations;
}

async function demonstrateTasks(
  tasks: readonly Task[],
  options: DemonstrateOptions,
): Promise<Trajectory[]> {
  const { processor, script, seed, makeEnv, images, concurrency, signal } = options;
  const stream = 'demonstrations';
  const scripts = new Map<string, ScriptedTurn[]>(
    tasks.map((task) => {
      const random = randomAt(seed, stream, task.id);
      const turns: ScriptedTurn[] = script(task, random).map((text) => ({ text, ends: false }));
      turns.push({ text: answerText(task.answer), ends: true });
      return [`${stream}/${task.id}/0`, turns] as const;
    }),
  );
  const demonstrator = createDemonstrator(processor, (conversation) => {
    const turns = scripts.get(conversation);
    if (turns === undefined) throw new DataError(`There is no script for ${conversation}.`);
    return turns;
  });
  const { groups } = await runRollouts(demonstrator, makeEnv, tasks, {
    groupSize: 1,
    seed,
    stream,
    maxTokensPerTurn: 1 << 20,
    maxContextTokens: 1 << 20,
    ...(images && { images }),
    ...(concurrency && { concurrency }),
    ...(signal && { signal }),
  });
  return groups.map(({ trajectories: [trajectory] }) => {
    if (trajectory?.stopReason !== 'answered') {
      throw new DataError(
        `A demonstration of ${trajectory?.taskId} ended with ${trajectory?.stopReason} instead of ` +
          `an answer${trajectory?.failure ? `: ${trajectory.failure.message}` : ''}. ` +
          'Check the sandbox with `saccade doctor`.',
      );
    }
    return trajectory;
  });
}
