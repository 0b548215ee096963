/** The cold start for `needle`: to look at cards and to read them. */
import {
  captions,
  demonstrate,
  guide,
  needleCorpus,
  needleScript,
  readingExamples,
  tourMix,
} from '@saccade/data';
import { needleWith } from '@saccade/gym';
import type { ColdStart, GatherOptions, Mixture } from '../cold-start.ts';

/** Demonstrations are made this many at a time. */
const CONCURRENCY = 64;

export const needle: ColdStart = {
  name: 'needle',
  description: 'Looks at cards that are too few and end too early, tours, captions and readings.',
  corpus: needleCorpus,
  gather,
};

async function gather(options: GatherOptions): Promise<readonly Mixture[]> {
  const { config, processor, images, protocol, taskSet, makeEnv, onEvent } = options;
  const { sft, seed } = config;
  const concurrency = Math.min(CONCURRENCY, config.rollout.concurrency);
  const shared = { makeEnv, processor, images, seed, concurrency, onEvent };
  const maxLooks = config.rollout.maxToolTurns;
  const tours = await demonstrate({
    ...shared,
    stage: 'tours',
    taskSet: needleWith({ cards: sft.tourCards }),
    script: needleScript({ ...tourMix, maxLooks }),
    firstTask: 0,
    count: sft.tours,
  });
  const { answerWithoutLooking, lookAtNothing, answerAfterSeeing, answerAfterMissing } = sft;
  const demonstrations = await demonstrate({
    ...shared,
    stage: 'demonstrations',
    taskSet,
    script: needleScript({
      answerWithoutLooking,
      lookAtNothing,
      answerAfterSeeing,
      answerAfterMissing,
      beginsAgain: false,
      maxLooks,
    }),
    firstTask: sft.tours,
    count: sft.demonstrations,
  });
  const readings = await readingExamples({
    protocol,
    processor,
    images,
    seed,
    count: sft.readings,
    onEvent,
  });
  const captioned = await captions({ processor, images, seed, count: sft.captions, onEvent });
  const guided = tours.map((tour) => guide(tour, processor));
  return [
    { kind: 'demonstrations', examples: demonstrations, perUpdate: sft.batchSize },
    { kind: 'tours', examples: guided, perUpdate: sft.tourBatchSize },
    { kind: 'captions', examples: captioned, perUpdate: sft.captionBatchSize },
    { kind: 'reading', examples: readings, perUpdate: sft.readingBatchSize },
  ];
}
