/** Demonstrations for the cold start: scripted trajectories, executed in the real sandbox. */
import { DataError, type EventSink, randomAt } from '@saccade/core';
import type { Protocol, Task, TaskSet } from '@saccade/gym';
import type { Processor } from '@saccade/policy';
import { type MakeEnv, type ModelImages, runRollouts } from '@saccade/rollout';
import type { ToolResult, Trajectory } from '@saccade/trajectory';
import { createDemonstrator, type ScriptedTurn } from './demonstrator.ts';
import type { Script } from './script.ts';
import { answerText, type Expected, expectedResults, stepTexts } from './turn-text.ts';

/**
 * Options of `demonstrate`: which tasks, how the demonstrator acts on them, and where its code
 * runs.
 */
export interface DemonstrateOptions {
  readonly taskSet: TaskSet;
  /** The protocol of the environments, whose syntax the demonstrations are written in. */
  readonly protocol: Protocol;
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
  /** Stage under which progress is reported. */
  readonly stage?: string;
}

/** Tasks whose images are in memory at a time. */
const CHUNK = 128;

/**
 * One demonstration per task, in task order, whatever the timing.
 *
 * @throws ConfigError if the protocol cannot express a step of a script
 * @throws DataError if a look failed or showed no image, or a script did not end in its answer:
 *   the environments have another protocol or a smaller budget, or the sandbox is broken
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
  const { protocol, processor, script, seed, makeEnv, images, concurrency, signal } = options;
  const stream = 'demonstrations';
  const expected = new Map<string, readonly Expected[]>();
  const scripts = new Map<string, ScriptedTurn[]>(
    tasks.map((task) => {
      const random = randomAt(seed, stream, task.id);
      const steps = script(task, random);
      expected.set(task.id, expectedResults(protocol, steps));
      const texts = [...stepTexts(protocol, task, steps), answerText(protocol, task.answer)];
      const turns = texts.map((text) => ({ text, ends: !isStopped(text, protocol) }));
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
    return sound(trajectory, protocol, expected.get(trajectory?.taskId ?? '') ?? []);
  });
}

/** Whether a stop string of the protocol, not the model, ended a turn. */
function isStopped(text: string, { stop }: Protocol): boolean {
  return stop.some((one) => text.endsWith(one));
}

function isExpected({ kind, imageCount }: ToolResult, expected: Expected = { images: 0 }): boolean {
  if (expected === 'refused') return kind === 'exception';
  return kind === 'ok' && imageCount >= expected.images;
}

/**
 * A demonstration whose looks all ran and showed what they should, whose mistakes were refused, and
 * which ended in its answer.
 *
 * @param expected what has to come of each of its steps
 */
function sound(
  trajectory: Trajectory | undefined,
  { name }: Protocol,
  expected: readonly Expected[],
): Trajectory {
  const advice =
    'Check that its environments have this protocol and turns and images enough, and the sandbox ' +
    'with `saccade doctor`.';
  const failed = trajectory?.turns.find(
    ({ result }, index) => result !== undefined && !isExpected(result, expected[index]),
  )?.result;
  if (failed !== undefined) {
    const { kind, errorType, errorMessage } = failed;
    const said = errorType === undefined ? '' : ` (${errorType}: ${errorMessage})`;
    throw new DataError(
      `A look of a demonstration of ${trajectory?.taskId} in ${name} ended with ${kind}${said} and ` +
        `showed ${failed.imageCount} images instead of what its script expects. ${advice}`,
    );
  }
  if (trajectory?.stopReason === 'answered') return trajectory;
  const failure = trajectory?.failure === undefined ? '' : `: ${trajectory.failure.message}`;
  throw new DataError(
    `A demonstration of ${trajectory?.taskId} in ${name} ended with ${trajectory?.stopReason} ` +
      `instead of an answer${failure.replace(/\.$/, '')}. ${advice}`,
  );
}
