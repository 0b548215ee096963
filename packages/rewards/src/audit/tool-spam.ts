/** Flags trajectories with many calls of which half or more add nothing. */
import { z } from 'zod';
import {
  type Audited,
  allAudited,
  type Detector,
  defineDetector,
  percent,
  portion,
} from '../audit.ts';
import { callsOf, isTalk } from './calls.ts';
import { alarmShare, least, leastTrajectories, share } from './threshold-fields.ts';

/**
 * A call adds nothing if all it does with images changes nothing (it loads, shows, saves, crops
 * nearly everything or what was cropped before), if it only prints its own text, or if an earlier
 * call of the trajectory had the same code. PyVision's taxonomy has the first as `no operation`
 * (arXiv:2507.07998; a large share there); a bonus per call makes it worth while. Thresholds ours.
 */
export const toolSpam: Detector = defineDetector({
  name: 'tool-spam',
  paper: 'PyVision, arXiv:2507.07998 (no operation); thresholds ours',
  description: 'many calls, of which half or more add nothing',
  settings: z.strictObject({
    leastCalls: least(3, 'calls', 'Calls of a trajectory from which they are many.'),
    idleShare: share(0.5, 'Calls that add nothing, of all of a trajectory.'),
    alarmShare,
    leastTrajectories,
  }),
  alarm: ({ alarmShare }) =>
    `${percent(alarmShare)} of the trajectories: below that it is noise of sampling, above it a habit that ` +
    'is paid',
  examine(input, { leastCalls, idleShare, alarmShare, leastTrajectories }) {
    const all = allAudited(input);
    const flagged = all.filter((audited) => {
      const calls = callsOf(audited).length;
      return calls >= leastCalls && idleCalls(audited) >= idleShare * calls;
    });
    const isAlarm = all.length >= leastTrajectories && flagged.length >= alarmShare * all.length;
    if (flagged.length === 0) {
      return { flagged, isAlarm: false, message: 'No trajectory piles up calls that add nothing.' };
    }
    return {
      flagged,
      isAlarm,
      message:
        `${portion(flagged.length, all.length)} make ${leastCalls} or more calls of which ` +
        `${percent(idleShare)} or more add nothing: pay for calls that show something new, or ` +
        'take back a bonus per call.',
    };
  },
});

function idleCalls(audited: Audited): number {
  const seen = new Set<string>();
  let count = 0;
  for (const { code, use } of callsOf(audited)) {
    const plain = code.replace(/\s+/g, ' ').trim();
    const isIdle = (use.isNoOp && !use.isIncomplete) || isTalk(use) || seen.has(plain);
    if (isIdle) count++;
    seen.add(plain);
  }
  return count;
}
