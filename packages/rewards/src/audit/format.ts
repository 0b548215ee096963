/** Flags wrong trajectories that are paid for their format. */
import { z } from 'zod';
import {
  type Audited,
  allAudited,
  type Detector,
  defineDetector,
  percent,
  portion,
} from '../audit.ts';
import { leastTrajectories, share } from './threshold-fields.ts';

/**
 * A wrong answer whose format terms sum to more than 0. Format terms are those with `format` in
 * their name, as of CodeDance, CodeV, CodeVision, Thyme and VISTA-R1. Definition ours.
 *
 *   paid share = Σ_wrong max(0, format) / Σ_all Σ_terms max(0, term)
 */
export const format: Detector = defineDetector({
  name: 'format',
  paper: 'ours',
  description: 'wrong, and paid for its format',
  settings: z.strictObject({
    alarmPaidShare: share(0.25, 'Share of all that is paid, from which it is an alarm.'),
    leastTrajectories,
  }),
  alarm: ({ alarmPaidShare }) =>
    `${percent(alarmPaidShare)} of everything paid goes to the format of wrong answers: then form pays ` +
    'about as well as being right',
  examine(input, { alarmPaidShare, leastTrajectories }) {
    const all = allAudited(input);
    const flagged = all.filter((one) => !one.trajectory.isCorrect && formatOf(one) > 1e-9);
    const paid = all.reduce((sum, one) => sum + paidFor(one), 0);
    const toFormat = flagged.reduce((sum, one) => sum + formatOf(one), 0);
    const paidShare = paid === 0 ? 0 : toFormat / paid;
    if (flagged.length === 0) {
      return { flagged, isAlarm: false, message: 'No wrong answer is paid for its format.' };
    }
    return {
      flagged,
      isAlarm: all.length >= leastTrajectories && paidShare >= alarmPaidShare,
      message:
        `${portion(flagged.length, all.length)} are wrong and paid for their format, ` +
        `${percent(paidShare)} of all that is paid: weigh format less, or pay it only ` +
        'beside a right answer.',
    };
  },
});

function formatOf({ trajectory }: Audited): number {
  let sum = 0;
  for (const [name, value] of Object.entries(trajectory.rewardTerms)) {
    if (name.includes('format')) sum += value;
  }
  return sum;
}

function paidFor({ trajectory }: Audited): number {
  return Object.values(trajectory.rewardTerms).reduce((sum, term) => sum + Math.max(0, term), 0);
}
