import { ConfigError, StateError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { populationStd } from '../advantaged-group.ts';
import { countDrops } from '../drop-counts.ts';
import type { ScheduleCommand, ScoredGroup } from '../scheduler.ts';
import { simulatedTrajectory } from '../simulated-task.ts';
import { type OversampleOptions, oversampleFilterRank } from './oversample-filter-rank.ts';

function groupMean({ trajectories }: ScoredGroup): Float64Array {
  const rewards = Float64Array.from(trajectories, ({ reward }) => reward);
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  return rewards.map((reward) => reward - mean);
}

/** A group of the given rewards; those marked with a `!` are broken. */
function group(taskId: string, ...rewards: readonly (number | `${number}!`)[]): ScoredGroup {
  const trajectories = rewards.map((reward, index) =>
    simulatedTrajectory(taskId, index, {
      reward: Number.parseFloat(String(reward)),
      isBroken: String(reward).endsWith('!'),
    }),
  );
  return { taskId, trajectories };
}

/** The commands that answer one step's groups. */
function commandsFor(
  groups: readonly (ScoredGroup | string)[],
  options: Partial<OversampleOptions> = {},
): readonly ScheduleCommand[] {
  const scheduler = oversampleFilterRank.create({
    promptsPerStep: 2,
    groupSize: 2,
    oversample: groups.length / 2,
    advantages: groupMean,
    ...options,
  });
  let [state, commands] = scheduler.next(scheduler.init(), { kind: 'stepStarted', step: 0 });
  expect(commands).toEqual([{ kind: 'rollOut', count: groups.length }]);
  const all: ScheduleCommand[] = [];
  for (const one of groups) {
    [state, commands] = scheduler.next(
      state,
      typeof one === 'string'
        ? { kind: 'groupFailed', taskId: one }
        : { kind: 'groupScored', group: one },
    );
    all.push(...commands);
  }
  return all;
}

function batchOf(commands: readonly ScheduleCommand[]): readonly string[] {
  return commands.flatMap((command) =>
    command.kind === 'trainOn' ? command.trajectories.map((one) => one.trajectory.id) : [],
  );
}

describe('oversample-filter-rank', () => {
  it('takes the groups whose rewards vary most, largest first', () => {
    const commands = commandsFor([
      group('a', 1, 1.1),
      group('b', 1, 0),
      group('c', 1.2, 1),
      group('d', 1.4, 0),
    ]);
    expect(batchOf(commands)).toEqual(['d/0', 'd/1', 'b/0', 'b/1']);
    expect(countDrops(commands)).toEqual({ rankedOut: { groups: 2, trajectories: 0 } });
  });

  it('keeps ties in the order of rolling out', () => {
    const groups = ['a', 'b', 'c', 'd'].map((id) => group(id, 1, 0));
    expect(batchOf(commandsFor(groups))).toEqual(['a/0', 'a/1', 'b/0', 'b/1']);
  });

  it('keeps the order of rolling out when ranking is off', () => {
    const groups = [group('a', 1, 1.1), group('b', 1, 1), group('c', 1, 0), group('d', 1.4, 0)];
    const commands = commandsFor(groups, { ranking: false });
    expect(batchOf(commands)).toEqual(['a/0', 'a/1', 'c/0', 'c/1']);
  });

  it('drops uniform groups and groups that are broken altogether, naming the reason', () => {
    const commands = commandsFor([
      group('a', 1.1, 1.1),
      group('b', '0!', '0!'),
      'c',
      group('d', 1, '0!'),
    ]);
    expect(batchOf(commands)).toEqual(['d/0', 'd/1']);
    expect(commands.filter((command) => command.kind === 'drop')).toEqual([
      { kind: 'drop', taskId: 'c', reason: 'groupFailed' },
      { kind: 'drop', taskId: 'a', reason: 'uniformGroup' },
      { kind: 'drop', taskId: 'b', reason: 'allBroken' },
    ]);
  });

  it('drops a group of equal rewards although their mean is rounded', () => {
    // The mean of seven times 1.1 is not 1.1 in float64.
    expect(populationStd(new Float64Array(7).fill(1.1))).toBe(0);
    expect(populationStd(Float64Array.of(5))).toBe(0);
  });

  it('gives an empty batch when nothing survives', () => {
    const commands = commandsFor(['a', group('b', 0, 0)]);
    expect(commands.at(-1)).toEqual({ kind: 'trainOn', trajectories: [] });
  });

  it('fixes advantages and σ on the full group, broken trajectories included', () => {
    // Hand-worked example: rewards {1.2, 1.1, 1.0, 0, 0, 0, 0, 1.4}, mean 0.5875, σ 0.5967.
    const one = group('a', 1.2, 1.1, 1.0, '0!', 0, 0, 0, 1.4);
    const commands = commandsFor([one], { promptsPerStep: 1, oversample: 1, broken: 'drop' });
    const batch = commands.flatMap((c) => (c.kind === 'trainOn' ? c.trajectories : []));
    expect(batch.map(({ trajectory }) => trajectory.sampleIndex)).toEqual([0, 1, 2, 4, 5, 6, 7]);
    const expected = [0.6125, 0.5125, 0.4125, -0.5875, -0.5875, -0.5875, 0.8125];
    batch.forEach(({ advantage, groupStd }, index) => {
      expect(advantage).toBeCloseTo(expected[index] ?? Number.NaN, 14);
      expect(groupStd).toBeCloseTo(0.5967, 4);
    });
    expect(countDrops(commands)).toEqual({ broken: { groups: 0, trajectories: 1 } });
  });

  it('keeps an all-correct group of unequal rewards, ranked by its small σ', () => {
    // Hand-worked example: {1.1, 1.2, 1.3, 1.0} has σ 0.1118.
    expect(populationStd(Float64Array.of(1.1, 1.2, 1.3, 1.0))).toBeCloseTo(0.1118, 4);
    const groups = [group('a', 1.1, 1.2, 1.3, 1.0), group('b', 1, 0, 0, 0)];
    const commands = commandsFor(groups, { promptsPerStep: 2, groupSize: 4, oversample: 1 });
    expect(batchOf(commands)[0]).toBe('b/0');
    expect(batchOf(commands)).toHaveLength(8);
  });

  it('trains on broken trajectories by default, and masks them when told', () => {
    const groups = [group('a', 1, '0!')];
    const masks = (broken: 'keep' | 'mask') =>
      commandsFor(groups, { promptsPerStep: 1, oversample: 1, broken }).flatMap((c) =>
        c.kind === 'trainOn' ? c.trajectories.map((one) => one.isMasked) : [],
      );
    expect(masks('keep')).toEqual([false, false]);
    expect(masks('mask')).toEqual([false, true]);
  });

  it('fills the places of lost trajectories from the next group, if the unit is the rollout', () => {
    const groups = [group('a', 1.4, 0), group('b', 1.3), group('c', 1.2, 0), group('d', 1.1, 0)];
    groups[0] = { taskId: 'a', trajectories: group('a', 1.4, 0, 0).trajectories.slice(0, 3) };
    const whole = commandsFor(groups, { unit: 'group' });
    expect(batchOf(whole)).toEqual(['a/0', 'a/1', 'a/2', 'c/0', 'c/1']);
    const single = commandsFor(groups, { unit: 'rollout' });
    expect(batchOf(single)).toEqual(['a/0', 'a/1', 'a/2', 'c/0']);
    expect(countDrops(single).rankedOut).toEqual({ groups: 1, trajectories: 1 });
  });

  it('rolls out 32 prompts for 16 by default', () => {
    const options = { promptsPerStep: 16, groupSize: 8, advantages: groupMean };
    const scheduler = oversampleFilterRank.create(options);
    const [, commands] = scheduler.next(scheduler.init(), { kind: 'stepStarted', step: 0 });
    expect(commands).toEqual([{ kind: 'rollOut', count: 32 }]);
  });

  it('refuses less than no oversampling, and events out of turn', () => {
    const options = { promptsPerStep: 1, groupSize: 2, advantages: groupMean };
    expect(() => oversampleFilterRank.create({ ...options, oversample: 0.5 })).toThrow(ConfigError);
    const scheduler = oversampleFilterRank.create(options);
    const early = { kind: 'groupFailed', taskId: 'a' } as const;
    expect(() => scheduler.next(scheduler.init(), early)).toThrow(StateError);
    const [state] = scheduler.next(scheduler.init(), { kind: 'stepStarted', step: 0 });
    const again = { kind: 'stepStarted', step: 1 } as const;
    expect(() => scheduler.next(state, again)).toThrow(/2 groups of the last one are out/);
  });
});
