/** The cold start for `turned-needle` and `graded-needle`: to turn a picture back, look and read. */
import {
  captions,
  demonstrate,
  guide,
  readingExamples,
  type TurnedMix,
  turnedCorpus,
  turnedDecisions,
  turnedScript,
} from '@saccade/data';
import { taskSets, turnedNeedleWith } from '@saccade/gym';
import type { ColdStart, GatherOptions, Mixture } from '../cold-start.ts';

/** Demonstrations are made this many at a time. */
const CONCURRENCY = 64;
/** Of the demonstrations, those of tables that may be turned; the others are of upright ones. */
const TURNED_SHARE = 0.6;
/** Of the captions, those of large prints. */
const PRINT_SHARE = 0.3;

/** Tours do what helps, and look on after it half of the time. */
const tours: Omit<TurnedMix, 'maxLooks'> = {
  answerWithoutLooking: 0,
  answerEasyAtOnce: 0.7,
  leaveTurned: 0,
  tryAnother: 0,
  turnUpright: 0,
  turnBack: 1,
  lookAtNothing: 0,
  answerAfterSeeing: 0.6,
  answerAfterMissing: 0,
  beginsAgain: true,
};

export const turnedNeedle: ColdStart = {
  name: 'turned-needle',
  description: 'Turns that are left out or tried at random, looks, tours, captions and readings.',
  corpus: turnedCorpus,
  gather,
};

async function gather(options: GatherOptions): Promise<readonly Mixture[]> {
  const { config, processor, images, protocol, makeEnv, onEvent } = options;
  const { sft, seed, rollout } = config;
  const concurrency = Math.min(CONCURRENCY, rollout.concurrency);
  const shared = { makeEnv, processor, images, seed, concurrency, onEvent };
  // A script must end in its answer: two turns may come before the looks.
  const maxLooks = Math.max(1, rollout.maxToolTurns - 2);
  const toured = await demonstrate({
    ...shared,
    stage: 'tours',
    taskSet: turnedNeedleWith({ cards: sft.tourCards, turnedShare: 0.7, easyShare: 0.6 }),
    script: turnedScript({ ...tours, maxLooks }),
    firstTask: 0,
    count: sft.tours,
  });
  const script = turnedScript({ ...sft, turnBack: 0.5, beginsAgain: false, maxLooks });
  const turnedCount = Math.round(TURNED_SHARE * sft.demonstrations);
  const show = (name: string, firstTask: number, count: number) =>
    demonstrate({
      ...shared,
      stage: `demonstrations of ${name}`,
      taskSet: taskSets.get(name),
      script,
      firstTask,
      count,
    });
  const demonstrations = [
    ...(await show('turned-needle', sft.tours, turnedCount)),
    ...(await show('graded-needle', sft.tours + turnedCount, sft.demonstrations - turnedCount)),
  ];
  const readings = await readingExamples({
    protocol,
    processor,
    images,
    seed,
    count: sft.readings,
    onEvent,
  });
  const captioned = await captions({
    processor,
    images,
    seed,
    count: sft.captions,
    printShare: PRINT_SHARE,
    onEvent,
  });
  const guided = toured.map((tour) => guide(tour, processor, turnedDecisions));
  return [
    { kind: 'demonstrations', examples: demonstrations, perUpdate: sft.batchSize },
    { kind: 'tours', examples: guided, perUpdate: sft.tourBatchSize },
    { kind: 'captions', examples: captioned, perUpdate: sft.captionBatchSize },
    { kind: 'reading', examples: readings, perUpdate: sft.readingBatchSize },
  ];
}
