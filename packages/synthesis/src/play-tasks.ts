/** Plays tasks k times and keeps every trajectory; continues where a kill left off. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Protocol, Task } from '@saccade/gym';
import { accuracy, type RewardTerm, scoreGroup } from '@saccade/rewards';
import { ModelImages, runRollouts } from '@saccade/rollout';
import { isScored, type ScoredTrajectory, type Trajectory } from '@saccade/trajectory';
import { openTrajectoryWriter, readTrajectories } from '@saccade/trajectory/files';
import type { Player, SynthesisContext } from './context.ts';

/** One trajectory of a task; scored, unless it failed. */
export interface Candidate {
  readonly task: Task;
  readonly trajectory: Trajectory | ScoredTrajectory;
  /** Whether its answer is right; false where it failed. */
  readonly isCorrect: boolean;
  /** More facts, which go into the file with it. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>;
}

/** How tasks are played. */
export interface PlayOptions {
  readonly player: Player;
  /** Default: the player's. */
  readonly protocol?: Protocol;
  /** Trajectories of each task. */
  readonly samples: number;
  /** Name of the step: of its file, its progress and its random numbers. */
  readonly name: string;
}

const terms: readonly RewardTerm[] = [{ reward: accuracy, weight: 1 }];

/** Tasks that are played, scored and written at a time: what a kill can lose. */
const CHUNK = 32;

/**
 * Trajectories of the tasks, in their order, `samples` each. They are written to `<name>.jsonl` of the
 * directory; what is there already is read instead of played, as long as it is whole.
 */
export async function playTasks(
  tasks: readonly Task[],
  options: PlayOptions,
  context: SynthesisContext,
): Promise<readonly Candidate[]> {
  const { player, samples, name } = options;
  const { onEvent, signal, spent, seed, concurrency, directory } = context;
  const path = join(directory, `${name}.jsonl`);
  const known = await readKnown(path, tasks, samples);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const candidates = known.trajectories.map((trajectory) =>
    candidateOf(trajectory, byId.get(trajectory.taskId) as Task),
  );
  const writer = await openTrajectoryWriter(path, { startAt: known.sizeBytes });
  const images = new ModelImages(player.sampler.processor);
  const makeEnv = player.envOf(options.protocol ?? player.protocol);
  const total = tasks.length * samples;
  const tell = (): void => {
    const note = spent?.();
    const progress = { kind: 'progress', stage: name, done: candidates.length, total } as const;
    onEvent(note === undefined ? progress : { ...progress, note });
  };
  tell();
  try {
    for (let at = candidates.length / samples; at < tasks.length; at += CHUNK) {
      const some = tasks.slice(at, at + CHUNK);
      const { groups } = await runRollouts(player.sampler, makeEnv, some, {
        ...{ groupSize: samples, seed, stream: name, concurrency, images },
        temperature: context.temperature,
        ...{ maxTokensPerTurn: context.maxTurnTokens, maxContextTokens: context.maxContextTokens },
        ...(signal && { signal }),
      });
      for (const [index, group] of groups.entries()) {
        const task = some[index] as Task;
        const { scored, failed } = scoreGroup(group, task, { verifier: context.verifier, terms });
        const ended: readonly Trajectory[] = [...scored.trajectories, ...failed];
        for (const trajectory of [...ended].sort((a, b) => a.sampleIndex - b.sampleIndex)) {
          await writer.write(trajectory, tagsOf(task));
          candidates.push(candidateOf(trajectory, task));
        }
      }
      tell();
    }
  } finally {
    await writer.close();
  }
  return candidates;
}

/** The facts about a task that go beside its trajectories. */
export function tagsOf(task: Task): Readonly<Record<string, string>> {
  const { box } = task.metadata;
  return {
    question: task.question,
    answer: task.answer,
    ...(Array.isArray(box) && { box: box.join(',') }),
  };
}

function candidateOf(trajectory: Trajectory | ScoredTrajectory, task: Task): Candidate {
  return { task, trajectory, isCorrect: isScored(trajectory) && trajectory.isCorrect };
}

/** The whole groups at the front of a file that are those of the tasks, and where they end. */
async function readKnown(path: string, tasks: readonly Task[], samples: number) {
  const bytes = await readFile(path).catch(() => Buffer.alloc(0));
  const trajectories: (Trajectory | ScoredTrajectory)[] = [];
  if (bytes.length === 0) return { trajectories, sizeBytes: 0 };
  try {
    for await (const { trajectory } of readTrajectories(path)) {
      const task = tasks[Math.floor(trajectories.length / samples)];
      if (trajectory.taskId !== task?.id) break;
      trajectories.push(trajectory);
    }
  } catch {
    // A kill has cut the last line: what stands before it counts.
  }
  trajectories.length -= trajectories.length % samples;
  let sizeBytes = 0;
  for (let line = 0; line < trajectories.length; line++)
    sizeBytes = bytes.indexOf(10, sizeBytes) + 1;
  return { trajectories, sizeBytes };
}
