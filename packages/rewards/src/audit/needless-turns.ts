/** Flags trajectories that turn or flip images for nothing. */

import type { Operation, OperationKind } from '@saccade/code-effects';
import { identity } from '@saccade/code-effects';
import {
  type Audited,
  allAudited,
  type Detector,
  defineDetector,
  percent,
  portion,
} from '../audit.ts';
import { sourced } from '../provenance.ts';
import { taskFacts } from '../task-facts.ts';

/**
 * Turns and flips where none is required (CodeVision's inappropriate tool use, arXiv:2512.03746,
 * §3.3.2: the task requires tools, none of them an orientation, or its image stands as it was
 * taken), and ours: turns that bring an image back to how it stood before, and those that leave it
 * as it is. Tasks that say neither `requiredTools` nor `toCanonical` are judged by the latter alone.
 */
export const needlessTurns: Detector = defineDetector({
  name: 'needless-turns',
  paper: 'CodeVision, arXiv:2512.03746, §3.3.2 (inappropriate); forth and back ours',
  description: 'turns or flips where none is required, or forth and back',
  thresholds: {
    alarmShare: sourced(0.1, 'ours'),
    leastTrajectories: sourced(8, 'ours'),
  },
  alarm: ({ alarmShare }) =>
    `${percent(alarmShare)} of the trajectories: a turn that is not needed costs a call and, shown to the ` +
    'model, makes the image harder to read',
  examine(input, { alarmShare, leastTrajectories }) {
    const all = allAudited(input);
    const unrequired = new Set(all.filter(turnsUnrequired));
    const back = all.filter((audited) => !unrequired.has(audited) && turnsBack(audited));
    const flagged = all.filter((audited) => unrequired.has(audited) || back.includes(audited));
    const isAlarm = all.length >= leastTrajectories && flagged.length >= alarmShare * all.length;
    if (flagged.length === 0) {
      return { flagged, isAlarm: false, message: 'No trajectory turns an image for nothing.' };
    }
    return {
      flagged,
      isAlarm,
      message:
        `${portion(flagged.length, all.length)} turn an image for nothing (${unrequired.size} where ` +
        `no turn is required, ${back.length} forth and back): punish turns that are not required.`,
    };
  },
});

/** From an output's frame to its input's, as [a, b, d, e]; `rotate` has its angle. */
const quarters: Partial<Record<OperationKind, Linear>> = {
  rotate_90: [0, -1, 1, 0],
  rotate_180: [-1, 0, 0, -1],
  rotate_270: [0, 1, -1, 0],
  flip_horizontal: [-1, 0, 0, 1],
  flip_vertical: [1, 0, 0, -1],
  transpose: [0, 1, 1, 0],
  transverse: [0, -1, -1, 0],
};

type Linear = readonly [number, number, number, number];

function isTurn({ kind }: Operation): boolean {
  return kind === 'rotate' || kind in quarters;
}

function certainOperations({ context }: Audited): readonly Operation[] {
  return context.toolUses.flatMap(({ operations }) =>
    operations.filter(({ isCertain }) => isCertain),
  );
}

function turnsUnrequired(audited: Audited): boolean {
  if (!certainOperations(audited).some(isTurn)) return false;
  const { requiredTools, toCanonical } = taskFacts(audited.context);
  if (requiredTools !== undefined) return !requiredTools.some((tool) => tool in quarters);
  return toCanonical?.every((entry, at) => entry === identity[at]) === true;
}

/** Whether a turn leaves an image as it is, or brings back how it stood earlier in its making. */
function turnsBack(audited: Audited): boolean {
  // How each image stands, and how those stood that it was made from, itself last.
  const histories = new Map<string, readonly Linear[]>();
  const upright: readonly Linear[] = [[1, 0, 0, 1]];
  for (const done of certainOperations(audited)) {
    const history = histories.get(done.input) ?? upright;
    if (!isTurn(done)) {
      if (done.output !== undefined && done.family !== 'composite') {
        histories.set(done.output, history);
      }
      continue;
    }
    if (done.noOpReason === 'identity') return true;
    const step = linearOf(done);
    const last = history.at(-1);
    if (step === undefined || last === undefined || done.output === undefined) continue;
    const next = compose(last, step);
    if (history.some((earlier) => isSame(earlier, next))) return true;
    histories.set(done.output, [...history, next]);
  }
  return false;
}

function linearOf({ kind, numbers }: Operation): Linear | undefined {
  if (kind !== 'rotate') return quarters[kind];
  const [degrees] = numbers;
  if (degrees === undefined) return undefined;
  const radians = (-degrees * Math.PI) / 180;
  return [Math.cos(radians), Math.sin(radians), -Math.sin(radians), Math.cos(radians)];
}

function compose([a, b, d, e]: Linear, [p, q, s, t]: Linear): Linear {
  return [a * p + b * s, a * q + b * t, d * p + e * s, d * q + e * t];
}

function isSame(one: Linear, other: Linear): boolean {
  return one.every((entry, at) => Math.abs(entry - (other[at] as number)) < 1e-6);
}
