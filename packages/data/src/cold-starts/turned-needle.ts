/** The cold start for turned, dark and graded tables: to turn an image back, look and read. */
import type { SettingsOf } from '@saccade/core/settings';
import { handOf, taskSets, turnedNeedleWith } from '@saccade/gym';
import type { Trajectory } from '@saccade/trajectory';
import { z } from 'zod';
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
  probabilityField,
  scriptedTasks,
  tourCards,
} from '../cold-start-settings.ts';
import { turnedCorpus } from '../corpus.ts';
import { demonstrate } from '../demonstrations.ts';
import { guide } from '../guided.ts';
import { readingExamples } from '../reading.ts';
import { turnedScript } from '../script.ts';
import type { TurnedMix } from '../turned-behaviour.ts';

/** Of which tables demonstrations are, and in which shares. */
const SHARES = [
  ['turned-needle', 0.55],
  ['graded-needle', 0.3],
  ['dark-needle', 0.15],
] as const;
/** Of the captions, those of large prints. */
const PRINT_SHARE = 0.3;

/** Tours do what helps, and look on after it half of the time. */
const tours: Omit<TurnedMix, 'maxLooks' | 'mostTries'> = {
  answerWithoutLooking: 0,
  answerEasyAtOnce: 0.7,
  leaveTurned: 0,
  tryAnother: 0,
  turnUpright: 0,
  turnBack: 1,
  tryInTheDark: 0,
  lookAtNothing: 0,
  answerAfterSeeing: 0.6,
  answerAfterMissing: 0,
  beginsAgain: true,
};

const settings = z.strictObject({
  ...amounts,
  tourCards,
  ...behavior,
  answerEasyAtOnce: probabilityField(0.5, 'Immediate answers where the digit is printed large.'),
  leaveTurned: probabilityField(0.5, 'Turned images that are left as they are.'),
  tryAnother: probabilityField(0.3, 'Turns before which another tool is tried.'),
  turnUpright: probabilityField(0.3, 'Upright images that are turned.'),
});

type Settings = SettingsOf<typeof settings>;

export const turnedNeedle = defineColdStart({
  name: 'turned-needle',
  description: 'Turns that are left out or tried at random, looks, tours, captions and readings.',
  settings,
  corpus: turnedCorpus,
  steps: ({ demonstrations, tours }) => (demonstrations + tours > 0 ? ['turn', 'look'] : []),
  // Two turns, where the first did not help, and a look.
  leastToolTurns: ({ demonstrations, tours }) => (demonstrations + tours > 0 ? 3 : 0),
  taskCount: scriptedTasks,
  gather,
});

async function gather(sft: Settings, context: ColdStartContext): Promise<readonly Mixture[]> {
  const { processor, images, protocol, makeEnv, seed, onEvent } = context;
  checkColdStart(turnedNeedle, sft, protocol);
  const concurrency = Math.min(CONCURRENCY, context.concurrency);
  const shared = { protocol, makeEnv, processor, images, seed, concurrency, onEvent };
  // A script must end in its answer: what is turned and what is looked at share the budget.
  const most = protocol.budgets.toolTurns;
  const turnsAndLooks = (tries: number) => {
    const mostTries = Math.min(tries, most - 1);
    return { mostTries, maxLooks: most - mostTries };
  };
  // None in the dark: tools that cannot be told there would teach that light tells nothing.
  const toured = await demonstrate({
    ...shared,
    stage: 'tours',
    taskSet: turnedNeedleWith({ cards: sft.tourCards, turnedShare: 0.75, easyShare: 0.6 }),
    script: turnedScript({ ...tours, ...turnsAndLooks(2) }),
    firstTask: 0,
    count: sft.tours,
  });
  const mix = { ...sft, turnBack: 0.5, tryInTheDark: 0.6, beginsAgain: false };
  const demonstrations: Trajectory[] = [];
  for (const [name, share] of SHARES) {
    demonstrations.push(
      ...(await demonstrate({
        ...shared,
        stage: `demonstrations of ${name}`,
        taskSet: taskSets.get(name),
        script: turnedScript({ ...mix, ...turnsAndLooks(name === 'dark-needle' ? 4 : 2) }),
        firstTask: sft.tours + demonstrations.length,
        count: Math.round(share * sft.demonstrations),
      })),
    );
  }
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
  const guided = toured.map((tour) =>
    guide(tour, processor, handOf(protocol, []), 'turnLookOrAnswer'),
  );
  return [
    { kind: 'demonstrations', examples: demonstrations, perUpdate: sft.batchSize },
    { kind: 'tours', examples: guided, perUpdate: sft.tourBatchSize },
    { kind: 'captions', examples: captioned, perUpdate: sft.captionBatchSize },
    { kind: 'reading', examples: readings, perUpdate: sft.readingBatchSize },
  ];
}
