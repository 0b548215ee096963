/** The cold start for `needle`: to look at cards and to read them. */
import type { SettingsOf } from '@saccade/core/settings';
import { handOf, needleWith } from '@saccade/gym';
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
  tourCards,
} from '../cold-start-settings.ts';
import { needleCorpus } from '../corpus.ts';
import { demonstrate } from '../demonstrations.ts';
import { guide } from '../guided.ts';
import { readingExamples } from '../reading.ts';
import { needleScript } from '../script.ts';

const settings = z.strictObject({
  ...amounts,
  tourCards,
  tourAnswerAfterSeeing,
  ...behavior,
});

type Settings = SettingsOf<typeof settings>;

export const needle = defineColdStart({
  name: 'needle',
  description: 'Looks at cards that are too few and end too early, tours, captions and readings.',
  settings,
  corpus: needleCorpus,
  steps: ({ demonstrations, tours }) => (demonstrations + tours > 0 ? ['look'] : []),
  taskCount: scriptedTasks,
  gather,
});

async function gather(sft: Settings, context: ColdStartContext): Promise<readonly Mixture[]> {
  const { processor, images, protocol, taskSet, makeEnv, seed, onEvent } = context;
  checkColdStart(needle, sft, protocol);
  const concurrency = Math.min(CONCURRENCY, context.concurrency);
  const shared = { protocol, makeEnv, processor, images, seed, concurrency, onEvent };
  const maxLooks = protocol.budgets.toolTurns;
  const tours = await demonstrate({
    ...shared,
    stage: 'tours',
    taskSet: needleWith({ cards: sft.tourCards }),
    script: needleScript({ ...tourMix, answerAfterSeeing: sft.tourAnswerAfterSeeing, maxLooks }),
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
  const guided = tours.map((tour) => guide(tour, processor, handOf(protocol, [])));
  return [
    { kind: 'demonstrations', examples: demonstrations, perUpdate: sft.batchSize },
    { kind: 'tours', examples: guided, perUpdate: sft.tourBatchSize },
    { kind: 'captions', examples: captioned, perUpdate: sft.captionBatchSize },
    { kind: 'reading', examples: readings, perUpdate: sft.readingBatchSize },
  ];
}
