/** Flags terms of the reward that do not vary where the reward does. */
import { z } from 'zod';
import {
  type Audited,
  allAudited,
  type Detector,
  defineDetector,
  percent,
  portion,
} from '../audit.ts';
import type { RewardTerm } from '../score.ts';
import { least, leastTrajectories, share } from './threshold-fields.ts';

/**
 * A term that is the same for all trajectories of a group whose rewards differ teaches nothing in
 * it; one that is the same for the whole batch teaches nothing at all.
 *
 *   share = max over terms of |trajectories in groups that differ where the term does not| / |all|
 *
 * Pixel-Reasoner trained whole runs with two terms that stayed at 0, unnoticed
 * (github.com/TIGER-AI-Lab/Pixel-Reasoner/issues/39). Definition ours.
 */
export const constantTerm: Detector = defineDetector({
  name: 'constant-term',
  paper: 'Pixel-Reasoner issue 39; definition ours',
  description: 'a term of the reward is the same for all of a group whose rewards differ',
  settings: z.strictObject({
    alarmShare: share(
      0.9,
      'Share of the differing groups’ trajectories, with a constant term, from which it is an alarm.',
    ),
    leastGroups: least(4, 'groups', 'Groups that differ, for that share to say anything.'),
    leastTrajectories,
  }),
  alarm: ({ alarmShare }) =>
    `a term is the same for the whole batch, or for ${percent(alarmShare)} of the trajectories in groups ` +
    'that differ: what decides next to nothing could be left out, or is broken',
  examine(input, { alarmShare, leastGroups, leastTrajectories }) {
    const all = allAudited(input);
    const names = namesOf(all).filter((name) => isExpectedToVary(name, all, input.terms ?? []));
    const differing = input.groups.filter((group) => spread(group, rewardOf) > 0);
    const trajectories = differing.flat();
    const found = names.map((name) => {
      const isConstant = all.length > 1 && spread(all, termOf(name)) === 0;
      const groups = differing.filter((group) => spread(group, termOf(name)) === 0);
      const flagged = differing.length === 0 && isConstant ? all : groups.flat();
      return { name, isConstant, groups, flagged };
    });
    found.sort((a, b) => b.flagged.length - a.flagged.length);
    const [worst] = found;
    const isEnough = all.length >= leastTrajectories;
    const dead = found.filter(({ isConstant }) => isConstant).map(({ name }) => name);
    if (dead.length > 0) {
      return {
        flagged: worst?.flagged ?? [],
        isAlarm: isEnough,
        message:
          dead.length === 1
            ? `${quoted(dead)} is the same for all ${all.length} trajectories and teaches nothing: ` +
              'check what it takes to earn it, or drop it.'
            : `${quoted(dead)} are the same for all ${all.length} trajectories and teach nothing: ` +
              'check what it takes to earn them, or drop them.',
      };
    }
    if (worst === undefined || worst.flagged.length === 0) {
      return { flagged: [], isAlarm: false, message: 'Every term varies where the reward does.' };
    }
    const share = worst.flagged.length / trajectories.length;
    return {
      flagged: worst.flagged,
      isAlarm: isEnough && differing.length >= leastGroups && share >= alarmShare,
      message:
        `"${worst.name}" is constant in ${portion(worst.groups.length, differing.length, 'groups')} ` +
        'whose rewards differ: there only the other terms decide; see that they may.',
    };
  },
});

const rewardOf = ({ trajectory }: Audited): number => trajectory.reward;

function termOf(name: string): (audited: Audited) => number {
  return ({ trajectory }) => trajectory.rewardTerms[name] ?? 0;
}

/** Largest less smallest; sums of equal terms may differ by their rounding. */
function spread(group: readonly Audited[], of: (audited: Audited) => number): number {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const audited of group) {
    const value = of(audited);
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return group.length === 0 || most - least < 1e-9 ? 0 : most - least;
}

function namesOf(all: readonly Audited[]): readonly string[] {
  return [...new Set(all.flatMap(({ trajectory }) => Object.keys(trajectory.rewardTerms)))];
}

/** Not: what weighs nothing, and a penalty that nobody has earned. */
function isExpectedToVary(
  name: string,
  all: readonly Audited[],
  terms: readonly RewardTerm[],
): boolean {
  const known = terms.find(({ reward }) => reward.name === name);
  if (known === undefined) return true;
  if (known.weight === 0) return false;
  const isPenalty = known.reward.range[1] <= 0;
  return !isPenalty || all.some((audited) => termOf(name)(audited) !== 0);
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
