/** PyVision-RL's scheduler: roll out too much, drop what cannot teach, prefer what varies. */
import { ConfigError } from '@saccade/core';
import type { AdvantagedGroup } from '../advantaged-group.ts';
import { advantaged, collectThenSelect, expectCount, type Selection } from '../collect.ts';
import { isBroken } from '../filters/broken.ts';
import { dropAllBroken, dropUniform, firstReason } from '../filters/group-filters.ts';
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
 * PyVision-RL, arXiv:2602.20739, Alg. 1. Its code filters single rollouts and ranks only what
 * overshoots the batch, so that there α has little effect; this is the paper's algorithm.
 */
export const oversampleFilterRank: OversampleFilterRank = {
  name: 'oversample-filter-rank',
  paper: 'arXiv:2602.20739, Alg. 1',
  description: 'Rolls out more groups than needed and trains on those whose rewards vary most.',
  create(options: OversampleOptions): Scheduler {
    const { promptsPerStep, groupSize, oversample = 2 } = options;
    expectCount('promptsPerStep', promptsPerStep);
    expectCount('groupSize', groupSize);
    if (!(oversample >= 1 && Number.isFinite(oversample))) {
      throw new ConfigError(
        'scheduler.oversample',
        `oversample must be at least 1, is ${oversample}. It is groups rolled out per group used.`,
      );
    }
    const count = Math.ceil(oversample * promptsPerStep);
    return collectThenSelect('oversample-filter-rank', count, options, (groups) =>
      select(groups, options),
    ) as Scheduler;
  },
};

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
