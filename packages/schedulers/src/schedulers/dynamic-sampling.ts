/** DAPO's scheduler: go on sampling until the batch is full of groups that teach something. */
import type { AdvantagedGroup } from '../advantaged-group.ts';
import {
  allOf,
  collectRounds,
  type Drop,
  dropGroup,
  expectCount,
  expectFactor,
  expectWord,
} from '../collect.ts';
import { dropUnanimous, dropUniform } from '../filters/group-filters.ts';
import type { Scheduler, SchedulerKind, SchedulerOptions } from '../scheduler.ts';

export interface DynamicSamplingOptions extends SchedulerOptions {
  /** α: groups rolled out in a round, per group trained on. Default 1; DAPO's runs have 3. */
  readonly oversample?: number;
  /** Most rounds of a step; after them it trains on what there is. Default 10. */
  readonly maxRounds?: number;
  /**
   * What makes a group uniform: its answers are all right or all wrong, as in the paper, or its
   * rewards are all equal. They differ where more than the answer is rewarded. Default `accuracy`.
   */
  readonly uniform?: 'accuracy' | 'reward';
  /** Whether a further round is a whole one or α times what is missing. Default `round`. */
  readonly refill?: 'round' | 'missing';
}

/** A kind of scheduler with options of its own. */
export interface DynamicSampling extends SchedulerKind {
  create(options: DynamicSamplingOptions): Scheduler;
}

interface Memory {
  readonly survivors: readonly AdvantagedGroup[];
  readonly round: number;
}

const NOTHING: Memory = { survivors: [], round: 0 };

/**
 * Dynamic sampling.
 *
 *   keep a group iff 0 < #{i : o_i is right} < G
 *
 * Rolls out rounds of ⌈α·B⌉ groups and drops the uniform ones, until B groups have survived; takes
 * the first B in the order of rolling out and drops the rest as `rankedOut`. After `maxRounds` it
 * says `exhausted` and trains on those there are: a policy that solves all or nothing stops
 * learning, not running.
 *
 * DAPO, arXiv:2503.14476, §3.2, eq. 11 and Alg. 1. Its code stops the run after the last round, and
 * filters by a metric that may be the reward: `uniform: 'reward'`.
 */
export const dynamicSampling: DynamicSampling = {
  name: 'dynamic-sampling',
  paper: 'arXiv:2503.14476, §3.2, Alg. 1',
  description: 'Goes on rolling out until the batch is full of groups that are not uniform.',
  variants: [
    {},
    { uniform: 'reward', refill: 'missing', maxRounds: 2 },
    { oversample: 2, maxRounds: 1 },
  ],
  create(options: DynamicSamplingOptions): Scheduler {
    const { promptsPerStep: wanted, oversample = 1, maxRounds = 10 } = options;
    const { uniform = 'accuracy', refill = 'round' } = options;
    expectFactor('oversample', oversample);
    expectCount('maxRounds', maxRounds);
    expectWord('uniform', uniform, ['accuracy', 'reward']);
    expectWord('refill', refill, ['round', 'missing']);
    const reasonOf = uniform === 'accuracy' ? dropUnanimous : dropUniform;
    const rollOut = (missing: number) =>
      ({ kind: 'rollOut', count: Math.ceil(oversample * missing) }) as const;

    return collectRounds<Memory>('dynamic-sampling', options, {
      memory: NOTHING,
      start: () => [NOTHING, [rollOut(wanted)]],
      decide(memory, groups) {
        const drops: Drop[] = [];
        const survivors = [...memory.survivors];
        for (const group of groups) {
          const reason = survivors.length < wanted ? reasonOf(group) : 'rankedOut';
          if (reason === undefined) survivors.push(group);
          else drops.push(dropGroup(group.taskId, reason));
        }
        const round = memory.round + 1;
        const missing = wanted - survivors.length;
        if (missing > 0 && round < maxRounds) {
          return [{ survivors, round }, [...drops, rollOut(refill === 'round' ? wanted : missing)]];
        }
        const filled = survivors.length;
        const exhausted = { kind: 'exhausted', rounds: round, filled, wanted } as const;
        const batch = { kind: 'trainOn', trajectories: allOf(survivors) } as const;
        return [NOTHING, [...drops, ...(missing > 0 ? [exhausted] : []), batch]];
      },
      held: ({ survivors }) => survivors,
    });
  },
};
