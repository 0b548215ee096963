/** The cold start for `card-video`: to look on demand, or to read frames that are given. */
import {
  captions,
  demonstrate,
  guide,
  stripCaptions,
  tourMix,
  videoCorpus,
  videoReadings,
  videoScript,
} from '@saccade/data';
import { drawCardFrame } from '@saccade/gym';
import type { ColdStart, GatherOptions, Mixture } from '../cold-start.ts';

/** Demonstrations are made this many at a time. */
const CONCURRENCY = 64;

export const cardVideo: ColdStart = {
  name: 'card-video',
  description: 'Strips and frames that are fetched too rarely; or given frames, which are read.',
  corpus: videoCorpus,
  gather,
};

async function gather(options: GatherOptions): Promise<readonly Mixture[]> {
  const { config, processor, images, protocol, onEvent } = options;
  const { sft, seed, rollout } = config;
  const captioned = await captions({
    processor,
    images,
    seed,
    count: sft.captions,
    draw: drawCardFrame,
    onEvent,
  });
  const readings = await videoReadings({
    protocol,
    processor,
    images,
    seed,
    count: sft.readings,
    frames: rollout.initialFrames,
    onEvent,
  });
  return [
    ...(rollout.initialFrames > 0 ? [] : await looks(options)),
    { kind: 'captions', examples: captioned, perUpdate: sft.captionBatchSize },
    { kind: 'reading', examples: readings, perUpdate: sft.readingBatchSize },
  ];
}

/** Trajectories that fetch frames, executed in the sandbox. */
async function looks(options: GatherOptions): Promise<readonly Mixture[]> {
  const { config, processor, images, taskSet, makeEnv, onEvent } = options;
  const { sft, seed, rollout } = config;
  const concurrency = Math.min(CONCURRENCY, rollout.concurrency);
  const shared = { taskSet, makeEnv, processor, images, seed, concurrency, onEvent };
  const maxLooks = rollout.maxToolTurns;
  const tours = await demonstrate({
    ...shared,
    stage: 'tours',
    script: videoScript({ ...tourMix, maxLooks }),
    firstTask: 0,
    count: sft.tours,
  });
  const { answerWithoutLooking, lookAtNothing, answerAfterSeeing, answerAfterMissing } = sft;
  const demonstrations = await demonstrate({
    ...shared,
    stage: 'demonstrations',
    script: videoScript({
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
  const strips = await stripCaptions({ processor, images, seed, count: sft.captions, onEvent });
  const guided = tours.map((tour) => guide(tour, processor));
  return [
    { kind: 'demonstrations', examples: demonstrations, perUpdate: sft.batchSize },
    { kind: 'tours', examples: guided, perUpdate: sft.tourBatchSize },
    { kind: 'strips', examples: strips, perUpdate: sft.captionBatchSize },
  ];
}
