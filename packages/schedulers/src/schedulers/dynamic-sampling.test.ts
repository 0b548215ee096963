import { describe, expect, it } from 'vitest';
import { countDrops } from '../drop-counts.ts';
import { advantages } from '../scenarios.ts';
import type { ScheduleCommand } from '../scheduler.ts';
import { simulatedTrajectory } from '../simulated-task.ts';
import { type DynamicSamplingOptions, dynamicSampling } from './dynamic-sampling.ts';

/** Answers every task asked for with the next of these rewards; gives all commands of a step. */
function step(
  rewards: readonly (readonly number[])[],
  options: Partial<DynamicSamplingOptions> = {},
): readonly ScheduleCommand[] {
  const scheduler = dynamicSampling.create({
    promptsPerStep: 2,
    groupSize: 2,
    advantages,
    ...options,
  });
  let [state, commands] = scheduler.next(scheduler.init(), { kind: 'stepStarted', step: 0 });
  const all = [...commands];
  rewards.forEach((values, index) => {
    const taskId = String(index);
    const trajectories = values.map((reward, sample) =>
      simulatedTrajectory(taskId, sample, { reward }),
    );
    [state, commands] = scheduler.next(state, {
      kind: 'groupScored',
      group: { taskId, trajectories },
    });
    all.push(...commands);
  });
  return all;
}

const rolledOut = (commands: readonly ScheduleCommand[]) =>
  commands.flatMap((command) => (command.kind === 'rollOut' ? [command.count] : []));
const batch = (commands: readonly ScheduleCommand[]) =>
  commands.flatMap((command) =>
    command.kind === 'trainOn' ? command.trajectories.map(({ trajectory }) => trajectory.id) : [],
  );

describe('dynamic sampling', () => {
  it('continues rolling out until the batch is full, and drops what is over', () => {
    const commands = step([
      [1, 1],
      [1, 0],
      [0, 1],
      [1, 0],
    ]);
    expect(rolledOut(commands)).toEqual([2, 2]);
    expect(batch(commands)).toEqual(['1/0', '1/1', '2/0', '2/1']);
    expect(countDrops(commands)).toEqual({
      uniformGroup: { groups: 1, trajectories: 0 },
      rankedOut: { groups: 1, trajectories: 0 },
    });
  });

  it('asks for what is missing only, where told', () => {
    const groups = [
      [1, 1],
      [1, 0],
      [0, 1],
    ];
    expect(rolledOut(step(groups, { refill: 'missing' }))).toEqual([2, 1]);
  });

  it('trains on what there is after its rounds, and says so', () => {
    const solved = [1, 1];
    const commands = step([solved, solved, [1, 0], solved], { maxRounds: 2 });
    expect(batch(commands)).toEqual(['2/0', '2/1']);
    const [exhausted, trainOn] = commands.slice(-2);
    expect(exhausted).toEqual({ kind: 'exhausted', rounds: 2, filled: 1, wanted: 2 });
    expect(trainOn?.kind).toBe('trainOn');
  });

  it('judges by answers as the paper does, or by rewards', () => {
    // All right, with unequal bonuses.
    const groups = [
      [1, 1.1],
      [1.2, 1],
    ];
    expect(batch(step(groups, { maxRounds: 1 }))).toEqual([]);
    expect(batch(step(groups, { maxRounds: 1, uniform: 'reward' }))).toHaveLength(4);
  });
});
