/** A run of a few steps that does all a real one does with its directory, and nothing else. */
import { join } from 'node:path';
import { type ScoredTrajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { checkpointsOf, findLatestCheckpoint } from './checkpoint.ts';
import { readConfig, writeConfig } from './config-file.ts';
import { makeDirectories, writeAndFlush } from './durable-files.ts';
import { recordAttempt } from './environment.ts';
import { type FileSystem, nodeFileSystem } from './file-system.ts';
import { inspectRun } from './inspect-run.ts';
import { lockRun } from './lock.ts';
import type { MetricsRow } from './metrics-log.ts';
import { openRunLog, saveCheckpoint } from './save-checkpoint.ts';
import { readSchedule, writeSchedule } from './schedule.ts';
import { initialState, type RunState, readState } from './state.ts';
import { describeDamage } from './store-error.ts';
import { trajectoriesOf, writeTrajectorySet } from './trajectory-set.ts';

export interface SmallRunOptions {
  readonly fileSystem?: FileSystem;
  readonly steps?: number;
  readonly keep?: number;
}

/** The result of a small run: its warnings and final state. */
export interface SmallRunResult {
  readonly warnings: readonly string[];
  readonly state: RunState;
}

const STEPS = 3;
export const smallConfig = { recipe: 'small', rl: { steps: STEPS, learningRate: 0.01 } };

/** Weights after so many steps: what each must find where it continues. */
function weightsAfter(step: number): string {
  return `weights ${step} ${'w'.repeat(40)}`;
}

export function trajectoryOf(step: number, index: number): ScoredTrajectory {
  const id = `train/${step}/task-${step}/${index}`;
  const builder = new TrajectoryBuilder({ id, taskId: `task-${step}`, sampleIndex: index });
  const png = Uint8Array.from({ length: 30 }, (_, i) => (i * 7 + step) % 256);
  const image = { name: 'image_clue_0', png, width: 8, height: 8, tokenCount: 1 };
  const images = [{ ...image, modelWidth: 8, modelHeight: 8 }];
  builder.prompt({ tokens: Int32Array.of(1), images, text: 'which digit' });
  const logprobs = Float32Array.of(-1);
  builder.model({ tokens: Int32Array.of(2), logprobs, text: '7', policyVersion: step });
  builder.turn({ kind: 'answer', answer: '7' });
  const reward = index === 0 ? 1 : 0;
  const rewardTerms = { accuracy: reward };
  return { ...builder.finish('answered'), reward, rewardTerms, isCorrect: index === 0 };
}

export function rowOf(step: number): MetricsRow {
  return { stage: 'rl', step, reward: step / 7, loss: 1 / (step + 1) };
}

/**
 * Starts the run, or continues with it where it stood.
 *
 * @throws Error if what it continues from is not what was written
 */
export async function smallRun(
  directory: string,
  { fileSystem = nodeFileSystem, steps = STEPS, keep = 1 }: SmallRunOptions = {},
): Promise<SmallRunResult> {
  const option = { fileSystem };
  const warnings: string[] = [];
  const isResumed = fileSystem.status(join(directory, 'config.json')) !== undefined;
  makeDirectories(fileSystem, trajectoriesOf(directory));
  const unlock = lockRun(directory, option);
  try {
    if (isResumed) {
      if (JSON.stringify(readConfig(directory, option).config) !== JSON.stringify(smallConfig)) {
        throw new Error('silently another configuration');
      }
      const { damage } = await inspectRun(directory, {
        ...option,
        skips: ['checkpoints', 'metrics'],
      });
      warnings.push(...damage.map(describeDamage));
    }
    const latest = findLatestCheckpoint(
      checkpointsOf(directory),
      (event) => event.kind === 'warning' && warnings.push(event.message),
      option,
    );
    let state = initialState;
    if (latest !== undefined) {
      state = readState(latest.directory, option);
      const weights = fileSystem.readFile(join(latest.directory, 'policy', 'weights')).toString();
      if (weights !== weightsAfter(state.rlSteps)) throw new Error('silently other weights');
      const schedule = await readSchedule(latest.directory, option);
      if (JSON.stringify(schedule?.json) !== `{"step":${state.rlSteps}}`) {
        throw new Error('silently another schedule');
      }
    }
    writeConfig(directory, smallConfig, option);
    const attempt = recordAttempt(directory, { node: 'v20' }, state.rlSteps, option);
    warnings.push(...attempt.map(describeDamage));
    const log = openRunLog(directory, state, option);
    warnings.push(...log.damage.map(describeDamage));
    try {
      while (state.rlSteps < steps) {
        const step = state.rlSteps + 1;
        const set = [0, 1].map((index) => ({
          trajectory: trajectoryOf(step, index),
          tags: { question: 'which digit', answer: '7' },
        }));
        writeTrajectorySet(directory, `step-${String(step).padStart(6, '0')}`, set, option);
        log.append(rowOf(step));
        state = { ...state, rlSteps: step, isFinished: step === steps };
        const reached = state;
        const position = await saveCheckpoint(directory, reached.rlSteps, {
          ...option,
          log,
          keep,
          pinned: false,
          fill: async (temporary) => {
            makeDirectories(fileSystem, join(temporary, 'policy'));
            writeAndFlush(fileSystem, join(temporary, 'policy', 'weights'), weightsAfter(step));
            const kept = trajectoryOf(step, 0);
            const trajectories = new Map([[kept.id, kept]]);
            writeSchedule(temporary, { json: { step }, trajectories }, option);
            return reached;
          },
        });
        state = { ...reached, ...position };
      }
    } finally {
      log.close();
    }
    return { warnings, state };
  } finally {
    unlock();
  }
}
