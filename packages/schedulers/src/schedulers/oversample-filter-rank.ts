/** PyVision-RL's scheduler: roll out too much, drop what cannot teach, prefer what varies. */
import type { AdvantagedGroup } from '../advantaged-group.ts';
import {
  advantaged,
  collectRounds,
  collectThenSelect,
  dropGroup,
  expectCount,
  expectFactor,
  expectWord,
  type Selection,
} from '../collect.ts';
import { isBroken } from '../filters/broken.ts';
import { dropAllBroken, dropUniform, firstReason } from '../filters/group-filters.ts';
import { rolloutReason } from '../filters/rollout-filters.ts';
import type {
  AdvantagedTrajectory,
  DropReason,
  Scheduler,
  SchedulerKind,
  SchedulerOptions,
} from '../scheduler.ts';

export interface OversampleOptions extends SchedulerOptions {
  /** α: groups rolled out per group trained on. Default 2; 1 for no oversampling. */
  readonly oversample?: number;
  /**
   * What the batch is filled with: whole groups until B are in, or single trajectories until B·G
   * are in, which may cut the last group. They differ only where groups have lost trajectories.
   * Default `group`: it keeps every group's advantages centred.
   */
  readonly unit?: 'group' | 'rollout';
  /** Whether groups of larger standard deviation come first, instead of earlier ones. Default true. */
  readonly ranking?: boolean;
  /**
   * What becomes of broken trajectories in surviving groups: trained on with their reward, left
   * out, or masked. Default `keep`: they are what tells the policy that broken code does not pay.
   */
  readonly broken?: 'keep' | 'drop' | 'mask';
  /**
   * Whose rules: the paper's Algorithm 1, or what its published code does. `unit` and `broken` are
   * the paper's only, `maxRounds` and `maxTokens` the code's. Default `paper`.
   */
  readonly rules?: 'paper' | 'code';
  /** Most rounds of a step; after them it trains on what there is. Default 10. */
  readonly maxRounds?: number;
  /** Longest trajectory trained on, tokens of its context. Default 128000. */
  readonly maxTokens?: number;
}

/** A kind of scheduler with options of its own. */
export interface OversampleFilterRank extends SchedulerKind {
  create(options: OversampleOptions): Scheduler;
}

/**
 * Oversampling, filtering, ranking.
 *
 *   σ_j = sqrt(mean_i((R_ji − mean(R_j))²))
 *
 * Rolls out ⌈α·B⌉ groups; drops those whose trajectories are all broken and those with σ = 0;
 * sorts the rest by σ, largest first, ties in the order of rolling out; takes the first B·G
 * trajectories. If fewer survive, it trains on those there are.
 *
 * PyVision-RL, arXiv:2602.20739, Alg. 1.
 *
 * With `rules: 'code'`, what its code does: rounds of ⌈α·B⌉ groups are filtered rollout by rollout,
 * in this order: rewards of the group all equal (unless it has one), no picture from a tool, more
 * than `maxTokens`, an end other than an answer, the turn limit or failed code. Once B·G rollouts
 * are kept, and only if there are more, those of the largest σ are taken. So α changes how much a
 * round makes, hardly what is trained on. Where the code stops the run for want of rounds, this
 * says `exhausted` and trains on what there is.
 */
export const oversampleFilterRank: OversampleFilterRank = {
  name: 'oversample-filter-rank',
  paper: 'arXiv:2602.20739, Alg. 1',
  description: 'Rolls out more groups than needed and trains on those whose rewards vary most.',
  variants: [
    {},
    { rules: 'code', maxRounds: 3 },
    { unit: 'rollout', broken: 'drop' },
    { oversample: 1, ranking: false, broken: 'mask' },
  ],
  create(options: OversampleOptions): Scheduler {
    const { promptsPerStep, oversample = 2, rules = 'paper', maxRounds = 10 } = options;
    const { unit = 'group', broken = 'keep', maxTokens = 128_000 } = options;
    expectFactor('oversample', oversample);
    expectWord('rules', rules, ['paper', 'code']);
    expectWord('unit', unit, ['group', 'rollout']);
    expectWord('broken', broken, ['keep', 'drop', 'mask']);
    expectCount('maxRounds', maxRounds);
    expectCount('maxTokens', maxTokens);
    const name = 'oversample-filter-rank';
    const count = Math.ceil(oversample * promptsPerStep);
    if (rules === 'code') return accumulate(name, count, { ...options, maxRounds, maxTokens });
    return collectThenSelect(name, count, options, (groups) => select(groups, options));
  },
};

interface Kept {
  readonly rollouts: readonly AdvantagedTrajectory[];
  readonly round: number;
}

const NOTHING: Kept = { rollouts: [], round: 0 };

/** The published code's rules: single rollouts are kept until there are B·G of them. */
function accumulate(
  name: string,
  count: number,
  options: OversampleOptions & { maxRounds: number; maxTokens: number },
): Scheduler {
  const { promptsPerStep, groupSize, ranking = true, maxRounds, maxTokens } = options;
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
  const { promptsPerStep, groupSize, unit = 'group', ranking = true, broken = 'keep' } = options;
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
