/** DAPO's scheduler: continue sampling until the batch is full of groups that teach something. */
import { choice, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';
import type { AdvantagedGroup } from '../advantaged-group.ts';
import { allOf, collectRounds, type Drop, dropGroup } from '../collect.ts';
import { defineScheduler } from '../define-scheduler.ts';
import { dropUnanimous, dropUniform } from '../filters/group-filters.ts';
import type { Scheduler, SchedulerOptions } from '../scheduler.ts';
import { maxRounds, oversampleField, promptsPerStep } from '../scheduler-settings.ts';

const settings = z.strictObject({
  promptsPerStep,
  oversample: oversampleField(1),
  maxRounds,
  uniform: choice(['accuracy', 'reward'], {
    default: 'accuracy',
    about: 'What makes a group uniform: answers all right or all wrong, or rewards all equal.',
  }),
  refill: choice(['round', 'missing'], {
    default: 'round',
    about: 'Whether a further round is a whole one, or α times what is missing.',
  }),
});

/** Options of `dynamicSampling`: the driver's, and its own settings. */
export type DynamicSamplingOptions = SchedulerOptions & SettingsOf<typeof settings>;

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
 * reports `exhausted` and trains on what it has: a policy that solves all tasks or none stops
 * learning, but the run continues.
 *
 * DAPO, arXiv:2503.14476, §3.2, eq. 11 and Alg. 1. Its code stops the run after the last round, and
 * filters by a metric that may be the reward: `uniform: 'reward'`.
 */
export const dynamicSampling = defineScheduler({
  name: 'dynamic-sampling',
  paper: 'arXiv:2503.14476, §3.2, Alg. 1',
  description: 'Goes on rolling out until the batch is full of groups that are not uniform.',
  settings,
  variants: [
    {},
    { uniform: 'reward', refill: 'missing', maxRounds: 2 },
    { oversample: 2, maxRounds: 1 },
  ],
  create(options: DynamicSamplingOptions): Scheduler {
    const { promptsPerStep: wanted, oversample, maxRounds } = options;
    const { uniform, refill } = options;
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
});
