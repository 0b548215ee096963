/** The cold start for `needle`: to look at cards and to read them. */
import type { SettingsOf } from '@saccade/core/settings';
import { handOf, needleWith } from '@saccade/gym';
import { z } from 'zod';
import { tourMix } from '../behavior.ts';
import { beside } from '../beside.ts';
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
  const { answerWithoutLooking, lookAtNothing, answerAfterSeeing, answerAfterMissing } = sft;
  const scripted = async (signal: AbortSignal) => {
    const tours = await demonstrate({
      ...shared,
      signal,
      stage: 'tours',
      taskSet: needleWith({ cards: sft.tourCards }),
      script: needleScript({ ...tourMix, answerAfterSeeing: sft.tourAnswerAfterSeeing, maxLooks }),
      firstTask: 0,
      count: sft.tours,
    });
    const demonstrations = await demonstrate({
      ...shared,
      signal,
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
    return { tours, demonstrations };
  };
  const drawn = async (signal: AbortSignal) => {
    const one = { processor, images, seed, signal, onEvent };
    const readings = await readingExamples({ ...one, protocol, count: sft.readings });
    const captioned = await captions({ ...one, count: sft.captions });
    return { readings, captioned };
  };
  const [{ tours, demonstrations }, { readings, captioned }] = await beside([scripted, drawn]);
  const guided = tours.map((tour) => guide(tour, processor, handOf(protocol, [])));
  return [
    { kind: 'demonstrations', examples: demonstrations, perUpdate: sft.batchSize },
    { kind: 'tours', examples: guided, perUpdate: sft.tourBatchSize },
    { kind: 'captions', examples: captioned, perUpdate: sft.captionBatchSize },
    { kind: 'reading', examples: readings, perUpdate: sft.readingBatchSize },
  ];
}
