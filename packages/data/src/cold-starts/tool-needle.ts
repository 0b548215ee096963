/** The cold start for `tool-needle`: teacher trajectories of typed tools, in VISTA's own words. */
import type { SettingsOf } from '@saccade/core/settings';
import { handOf, toolNeedleWith } from '@saccade/gym';
import { z } from 'zod';
import { captions } from '../caption.ts';
import { codeReadings } from '../code-reading.ts';
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
  examplesField,
  perUpdateField,
  probabilityField,
  scriptedTasks,
  tourAnswerAfterSeeing,
  tourCards,
} from '../cold-start-settings.ts';
import { toolCorpus } from '../corpus.ts';
import { demonstrate } from '../demonstrations.ts';
import { guide } from '../guided.ts';
import { readingExamples } from '../reading.ts';
import { toolScript } from '../script.ts';
import { demonstratedTools } from '../tool-behavior.ts';

/** Tours call nothing but what helps. */
const helpful = {
  answerWithoutLooking: 0,
  lookAtNothing: 0,
  answerAfterMissing: 0,
  beginsAgain: true,
  leaveTurned: 0,
  wrongTool: 0,
  answerAfterWrongTool: 0,
  slip: 0,
};

const settings = z.strictObject({
  ...amounts,
  codeReadings: examplesField(2048, 'One-turn examples with the text of the code tool.'),
  codeReadingBatchSize: perUpdateField(16, 'Readings of that text per update.'),
  tourCards,
  tourAnswerAfterSeeing,
  ...behavior,
  leaveTurned: probabilityField(0.4, 'Turned images that are left as they are.'),
  wrongTool: probabilityField(0.3, 'Demonstrations that call a tool first that does not help.'),
  answerAfterWrongTool: probabilityField(0.5, 'Of these, those that answer right after it.'),
  slip: probabilityField(0.1, 'Demonstrations whose first right call is refused for a mistake.'),
});

type Settings = SettingsOf<typeof settings>;

export const toolNeedle = defineColdStart({
  name: 'tool-needle',
  description: 'Calls of right and wrong tools, mistakes that are refused, readings and captions.',
  settings,
  corpus: toolCorpus,
  calls: ({ demonstrations, tours }) => (demonstrations + tours > 0 ? demonstratedTools : []),
  taskCount: scriptedTasks,
  gather,
});

async function gather(sft: Settings, context: ColdStartContext): Promise<readonly Mixture[]> {
  const { processor, images, protocol, taskSet, makeEnv, seed, onEvent } = context;
  checkColdStart(toolNeedle, sft, protocol);
  const concurrency = Math.min(CONCURRENCY, context.concurrency);
  const shared = { protocol, makeEnv, processor, images, seed, concurrency, onEvent };
  const one = { protocol, processor, images, seed, onEvent };
  const maxCalls = protocol.budgets.toolTurns;
  const limits = { maxCalls, maxLooks: Math.max(1, maxCalls - 1) };
  const tours = await demonstrate({
    ...shared,
    stage: 'tours',
    // How codes are read is taught by readings.
    taskSet: toolNeedleWith({ cards: sft.tourCards, codeShare: 0 }),
    script: toolScript({
      ...helpful,
      ...limits,
      answerAfterSeeing: sft.tourAnswerAfterSeeing,
    }),
    firstTask: 0,
    count: sft.tours,
  });
  const demonstrations = await demonstrate({
    ...shared,
    stage: 'demonstrations',
    taskSet,
    script: toolScript({ ...sft, ...limits, beginsAgain: false }),
    firstTask: sft.tours,
    count: sft.demonstrations,
  });
  const readings = await readingExamples({ ...one, count: sft.readings });
  const codes = await codeReadings({ ...one, count: sft.codeReadings });
  const captioned = await captions({ processor, images, seed, count: sft.captions, onEvent });
  const guided = tours.map((tour) =>
    guide(tour, processor, handOf(protocol, []), demonstratedTools),
  );
  return [
    { kind: 'demonstrations', examples: demonstrations, perUpdate: sft.batchSize },
    { kind: 'tours', examples: guided, perUpdate: sft.tourBatchSize },
    { kind: 'captions', examples: captioned, perUpdate: sft.captionBatchSize },
    { kind: 'reading', examples: readings, perUpdate: sft.readingBatchSize },
    { kind: 'code readings', examples: codes, perUpdate: sft.codeReadingBatchSize },
  ];
}
