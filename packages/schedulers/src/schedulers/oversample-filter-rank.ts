/**
 * PyVision-RL's scheduler: roll out more than needed, drop what cannot teach, prefer what varies.
 */
import { choice, count, flag, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';
import type { AdvantagedGroup } from '../advantaged-group.ts';
import {
  advantaged,
  collectRounds,
  collectThenSelect,
  dropGroup,
  type Selection,
} from '../collect.ts';
import { defineScheduler } from '../define-scheduler.ts';
import { isBroken } from '../filters/broken.ts';
import { dropAllBroken, dropUniform, firstReason } from '../filters/group-filters.ts';
import { rolloutReason } from '../filters/rollout-filters.ts';
import type {
  AdvantagedTrajectory,
  DropReason,
  Scheduler,
  SchedulerOptions,
} from '../scheduler.ts';
import { maxRounds, oversampleField, promptsPerStep } from '../scheduler-settings.ts';

const settings = z.strictObject({
  promptsPerStep,
  oversample: oversampleField(2),
  unit: choice(['group', 'rollout'], {
    default: 'group',
    about:
      'Whether the batch fills with whole groups, which stay centered, or single trajectories.',
  }),
  ranking: flag({
    default: true,
    about: 'Whether groups of larger reward deviation come first, instead of earlier ones.',
  }),
  broken: choice(['keep', 'drop', 'mask'], {
    default: 'keep',
    about: 'Broken trajectories of groups that are kept: trained on, left out, or masked.',
  }),
  rules: choice(['paper', 'code'], {
    default: 'paper',
    about: 'The paper’s Algorithm 1, or what its code does; unit and broken are the paper’s only.',
  }),
  maxRounds,
  maxTokens: count({
    min: 1,
    max: 100_000_000,
    default: 128_000,
    unit: 'tokens',
    about: 'Longest trajectory trained on under the code’s rules, tokens of its context.',
  }),
});

/** Options of `oversampleFilterRank`: the driver's, and its own settings; `oversample` is α. */
export type OversampleOptions = SchedulerOptions & SettingsOf<typeof settings>;

/**
 * Oversampling, filtering, ranking.
 *
 *   σ_j = sqrt(mean_i((R_ji − mean(R_j))²))
 *
 * Rolls out ⌈α·B⌉ groups; drops those whose trajectories are all broken and those with σ = 0; sorts
 * the rest by σ, largest first, ties in the order of rolling out; takes the first B·G trajectories.
 * If fewer survive, it trains on those there are.
 *
 * PyVision-RL, arXiv:2602.20739, Alg. 1.
 *
 * With `rules: 'code'`, what its code does: rounds of ⌈α·B⌉ groups are filtered rollout by rollout,
 * in this order: rewards of the group all equal (unless it has one), no image from a tool, more
 * than `maxTokens`, an end other than an answer, the turn limit or failed code. Once B·G rollouts
 * are kept, and only if there are more, those of the largest σ are taken. So α changes the size of
 * a round, but hardly what is trained on. Where the code stops the run because it has used up its
 * rounds, this reports `exhausted` and trains on what it has.
 */
export const oversampleFilterRank = defineScheduler({
  name: 'oversample-filter-rank',
  paper: 'arXiv:2602.20739, Alg. 1',
  description: 'Rolls out more groups than needed and trains on those whose rewards vary most.',
  settings,
  variants: [
    {},
    { rules: 'code', maxRounds: 3 },
    { unit: 'rollout', broken: 'drop' },
    { oversample: 1, ranking: false, broken: 'mask' },
  ],
  create(options: OversampleOptions): Scheduler {
    const { promptsPerStep, oversample, rules } = options;
    const name = 'oversample-filter-rank';
    const count = Math.ceil(oversample * promptsPerStep);
    if (rules === 'code') return accumulate(name, count, options);
    return collectThenSelect(name, count, options, (groups) => select(groups, options));
  },
});

interface Kept {
  readonly rollouts: readonly AdvantagedTrajectory[];
  readonly round: number;
}

const NOTHING: Kept = { rollouts: [], round: 0 };

/** The published code's rules: single rollouts are kept until there are B·G of them. */
function accumulate(name: string, count: number, options: OversampleOptions): Scheduler {
  const { promptsPerStep, groupSize, ranking, maxRounds, maxTokens } = options;
  const target = promptsPerStep * groupSize;
  const rollOut = { kind: 'rollOut', count } as const;
  return collectRounds<Kept>(name, options, {
    memory: NOTHING,
    start: () => [NOTHING, [rollOut]],
    decide(memory, groups) {
      const drops: Selection['drops'][number][] = [];
      const rollouts = [...memory.rollouts];
      for (const group of groups) {
        const uniform = group.trajectories.length > 1 ? dropUniform(group) : undefined;
        if (uniform !== undefined) {
          drops.push(dropGroup(group.taskId, uniform));
          continue;
        }
        group.trajectories.forEach((trajectory, index) => {
          const { taskId, sampleIndex } = trajectory;
          const reason = rolloutReason(trajectory, maxTokens);
          if (reason === undefined) rollouts.push(advantaged(group, index));
          else drops.push({ kind: 'drop', taskId, sampleIndex, reason });
        });
      }
      const round = memory.round + 1;
      if (rollouts.length < target && round < maxRounds) {
        return [{ rollouts, round }, [...drops, rollOut]];
      }
      if (rollouts.length < target) {
        const filled = Math.floor(rollouts.length / groupSize);
        const wanted = promptsPerStep;
        const exhausted = { kind: 'exhausted', rounds: round, filled, wanted } as const;
        return [NOTHING, [...drops, exhausted, { kind: 'trainOn', trajectories: rollouts }]];
      }
      // Stable where the code's sort is not: ties stay in the order of rolling out.
      if (ranking && rollouts.length > target) rollouts.sort((a, b) => b.groupStd - a.groupStd);
      for (const { trajectory } of rollouts.slice(target)) {
        const { taskId, sampleIndex } = trajectory;
        drops.push({ kind: 'drop', taskId, sampleIndex, reason: 'rankedOut' });
      }
      return [NOTHING, [...drops, { kind: 'trainOn', trajectories: rollouts.slice(0, target) }]];
    },
    held: ({ rollouts }) =>
      rollouts.map(({ trajectory: { taskId, sampleIndex } }) => ({ taskId, sampleIndex })),
  });
}

function select(groups: readonly AdvantagedGroup[], options: OversampleOptions): Selection {
  const { promptsPerStep, groupSize, unit, ranking, broken } = options;
  const drops: Selection['drops'][number][] = [];
  const survivors: AdvantagedGroup[] = [];
  for (const group of groups) {
    const reason = firstReason(group, [dropAllBroken, dropUniform]);
    if (reason === undefined) survivors.push(group);
    else drops.push({ kind: 'drop', taskId: group.taskId, reason });
  }
  // Array.sort is stable, so ties stay in the order of rolling out.
  if (ranking) survivors.sort((a, b) => b.std - a.std);

  const trajectories: AdvantagedTrajectory[] = [];
  const dropOne = (taskId: string, sampleIndex: number, reason: DropReason): void => {
    drops.push({ kind: 'drop', taskId, sampleIndex, reason });
  };
  survivors.forEach((group, rank) => {
    const isFull =
      unit === 'group' ? rank >= promptsPerStep : trajectories.length >= promptsPerStep * groupSize;
    if (isFull) {
      drops.push({ kind: 'drop', taskId: group.taskId, reason: 'rankedOut' });
      return;
    }
    group.trajectories.forEach((trajectory, index) => {
      const { sampleIndex } = trajectory;
      if (broken === 'drop' && isBroken(trajectory)) {
        dropOne(group.taskId, sampleIndex, 'broken');
      } else if (unit === 'rollout' && trajectories.length >= promptsPerStep * groupSize) {
        dropOne(group.taskId, sampleIndex, 'rankedOut');
      } else {
        const isMasked = broken === 'mask' && isBroken(trajectory);
        trajectories.push(advantaged(group, index, isMasked));
      }
    });
  });
  return { trajectories, drops };
}
