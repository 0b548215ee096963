/** The cold start for `card-video`: to look on demand, or to read frames that are given. */
import { count, type SettingsOf } from '@saccade/core/settings';
import { drawCardFrame, handOf } from '@saccade/gym';
import { z } from 'zod';
import { tourMix } from '../behavior.ts';
import { captions } from '../caption.ts';
import {
  type ColdStartContext,
  checkColdStart,
  defineColdStart,
  type Mixture,
} from '../cold-start.ts';
import {
  amounts,
  behavior,
  CONCURRENCY,
  scriptedTasks,
  tourAnswerAfterSeeing,
} from '../cold-start-settings.ts';
import { videoCorpus } from '../corpus.ts';
import { demonstrate } from '../demonstrations.ts';
import { guide } from '../guided.ts';
import { videoScript } from '../script.ts';
import { stripCaptions } from '../strip-caption.ts';
import { videoReadings } from '../video-reading.ts';

const settings = z.strictObject({
  ...amounts,
  frames: count({
    min: 0,
    max: 1000,
    default: 0,
    unit: 'frames',
    about: 'Uniform frames in the context of readings; above 0 there are no looks to show.',
  }),
  tourAnswerAfterSeeing,
  ...behavior,
});

type Settings = SettingsOf<typeof settings>;

export const cardVideo = defineColdStart({
  name: 'card-video',
  description: 'Strips and frames that are fetched too rarely; or given frames, which are read.',
  settings,
  corpus: videoCorpus,
  steps: ({ frames }) => (frames > 0 ? [] : ['filmStrip', 'frame']),
  taskCount: scriptedTasks,
  gather,
});

async function gather(sft: Settings, context: ColdStartContext): Promise<readonly Mixture[]> {
  const { processor, images, protocol, seed, onEvent } = context;
  checkColdStart(cardVideo, sft, protocol);
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
    frames: sft.frames,
    onEvent,
  });
  return [
    ...(sft.frames > 0 ? [] : await looks(sft, context)),
    { kind: 'captions', examples: captioned, perUpdate: sft.captionBatchSize },
    { kind: 'reading', examples: readings, perUpdate: sft.readingBatchSize },
  ];
}

/** Trajectories that fetch frames, executed in the sandbox. */
async function looks(sft: Settings, context: ColdStartContext): Promise<readonly Mixture[]> {
  const { processor, images, protocol, taskSet, makeEnv, seed, onEvent } = context;
  const concurrency = Math.min(CONCURRENCY, context.concurrency);
  const shared = { taskSet, protocol, makeEnv, processor, images, seed, concurrency, onEvent };
  const maxLooks = protocol.budgets.toolTurns;
  const tours = await demonstrate({
    ...shared,
    stage: 'tours',
    script: videoScript({ ...tourMix, answerAfterSeeing: sft.tourAnswerAfterSeeing, maxLooks }),
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
  const guided = tours.map((tour) => guide(tour, processor, handOf(protocol, [])));
  return [
    { kind: 'demonstrations', examples: demonstrations, perUpdate: sft.batchSize },
    { kind: 'tours', examples: guided, perUpdate: sft.tourBatchSize },
    { kind: 'strips', examples: strips, perUpdate: sft.captionBatchSize },
  ];
}
