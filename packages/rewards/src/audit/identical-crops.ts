/** Flags trajectories that crop the same box again and again, or the same box as everybody. */

import type { Operation } from '@saccade/code-effects';
import { promptImages } from '@saccade/code-effects';
import {
  type Audited,
  allAudited,
  type Detector,
  defineDetector,
  percent,
  portion,
} from '../audit.ts';
import { sourced } from '../provenance.ts';

/**
 * Within a trajectory: `leastRepeats` crops or more with an IoU of at least 0.95 with an earlier one
 * (CodeV's redline for repeated crops, arXiv:2511.19661, §4.3). Across tasks: the first crop is the
 * same part of the image, to a hundredth of its sides, in `constantShare` of the trajectories
 * that crop. The second is ours.
 */
export const identicalCrops: Detector = defineDetector({
  name: 'identical-crops',
  paper: 'CodeV, arXiv:2511.19661, §4.3 (repeated crops); across tasks ours',
  description: 'the same box cropped again and again, or on most tasks',
  thresholds: {
    leastRepeats: sourced(2, 'ours'),
    constantShare: sourced(0.5, 'ours'),
    /** Tasks a common box must be seen on. */
    leastTasks: sourced(8, 'ours'),
    alarmShare: sourced(0.1, 'ours'),
    leastTrajectories: sourced(8, 'ours'),
  },
  alarm: ({ alarmShare, constantShare }) =>
    `${percent(alarmShare)} of the trajectories repeat a box: more than slips; or ${percent(constantShare)} of those ` +
    'that crop share one box over many tasks: they do not look where the image tells them to',
  examine(input, thresholds) {
    const { leastRepeats, constantShare, leastTasks, alarmShare, leastTrajectories } = thresholds;
    const all = allAudited(input);
    const repeating = all.filter(
      (audited) =>
        cropsOf(audited).filter(({ noOpReason }) => noOpReason === 'repeated').length >=
        leastRepeats,
    );
    const firsts = all.flatMap((audited) => {
      const place = firstPlace(audited);
      return place === undefined ? [] : [{ audited, place }];
    });
    const common = commonest(firsts, leastTasks);
    const isConstant = common.length > 0 && common.length >= constantShare * firsts.length;
    const chosen = new Set(isConstant ? [...repeating, ...common] : repeating);
    const flagged = all.filter((audited) => chosen.has(audited));
    const isEnough = all.length >= leastTrajectories;
    const isAlarm = isEnough && (isConstant || repeating.length >= alarmShare * all.length);
    if (isConstant) {
      return {
        flagged,
        isAlarm,
        message:
          `${portion(common.length, firsts.length, 'first crops')} are the same box on different ` +
          'tasks: if the targets lie in different places, reward the place of the crop.',
      };
    }
    const message =
      flagged.length === 0
        ? 'No trajectory crops one box again and again.'
        : `${portion(flagged.length, all.length)} crop one box again and again: do not pay a ` +
          'repeated crop.';
    return { flagged, isAlarm, message };
  },
});

function cropsOf({ context }: Audited): readonly Operation[] {
  return context.toolUses.flatMap(({ operations }) =>
    operations.filter(({ kind, isCertain }) => kind === 'crop' && isCertain),
  );
}

/** The first crop as hundredths of its image's sides; undefined where it is not known. */
function firstPlace(audited: Audited): string | undefined {
  const [crop] = cropsOf(audited);
  const { canonicalBox, source } = crop ?? {};
  const image = promptImages(audited.trajectory).find(({ name }) => name === source);
  if (canonicalBox === undefined || image === undefined) return undefined;
  const sides = [image.width, image.height, image.width, image.height];
  return canonicalBox
    .map((side, index) => Math.round((100 * side) / (sides[index] as number)))
    .join();
}

interface First {
  readonly audited: Audited;
  readonly place: string;
}

/** The trajectories of the place that most have; none where it was met on too few tasks. */
function commonest(firsts: readonly First[], leastTasks: number): readonly Audited[] {
  const places = new Map<string, Audited[]>();
  for (const { audited, place } of firsts) {
    const own = places.get(place);
    if (own === undefined) places.set(place, [audited]);
    else own.push(audited);
  }
  let most: readonly Audited[] = [];
  for (const own of places.values()) if (own.length > most.length) most = own;
  const tasks = new Set(most.map(({ trajectory }) => trajectory.taskId));
  return tasks.size >= leastTasks ? most : [];
}
