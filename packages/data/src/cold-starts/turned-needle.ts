/** The cold start for turned, dark and graded tables: to turn a image back, look and read. */
import { count, quantity, type SettingsOf } from '@saccade/core/settings';
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

/** Tours do nothing but what helps, in the order in which it helps. */
const helpful = {
  answerWithoutLooking: 0,
  leaveTurned: 0,
  tryAnother: 0,
  turnUpright: 0,
  turnBack: 1,
  tryInTheDark: 0,
  lookAtNothing: 0,
  answerAfterMissing: 0,
  beginsAgain: true,
};

const settings = z
  .strictObject({
    ...amounts,
    tourCards,
    ...behavior,
    answerEasyAtOnce: probabilityField(0.5, 'Immediate answers where the digit is printed large.'),
    leaveTurned: probabilityField(0.5, 'Turned images that are left as they are.'),
    tryAnother: probabilityField(0.3, 'Turns before which another tool is tried.'),
    turnUpright: probabilityField(0.3, 'Upright images that are turned.'),
    turnBack: probabilityField(0.5, 'Turned upright images that are turned back.'),
    tryInTheDark: probabilityField(0.6, 'Tools that are tried in the dark, one after another.'),
    tries: triesField(2, 'Most tools that are tried on a lit table.'),
    darkTries: triesField(4, 'Most tools that are tried in the dark.'),
    tourAnswerAfterSeeing: probabilityField(0.6, 'Tours that answer once the digit was seen.'),
    tourAnswerEasyAtOnce: probabilityField(
      0.7,
      'Tours that answer at once where the digit is printed large.',
    ),
    tourTurnedShare: shareField(0.75, 'Tables of tours that are turned or flipped.'),
    tourEasyShare: shareField(0.6, 'Upright tables of tours on which the digit is printed large.'),
    gradedShare: shareField(0.3, 'Demonstrations on tables that are never turned.'),
    darkShare: shareField(0.15, 'Demonstrations in the dark; the rest are on turned tables.'),
    printShare: shareField(0.3, 'Captions of large prints.'),
  })
  .refine(({ gradedShare, darkShare }) => gradedShare + darkShare <= 1, {
    path: ['darkShare'],
    message: 'at most what gradedShare leaves of 1',
  });

/** Tools that a script tries at most; the protocol's turns bound them too. */
function triesField(preset: number, about: string): z.ZodDefault<z.ZodNumber> {
  return count({ min: 1, max: 100, default: preset, unit: 'tools', about });
}

/** A share of examples. */
function shareField(preset: number, about: string): z.ZodDefault<z.ZodNumber> {
  return quantity({ min: 0, max: 1, default: preset, unit: 'share', about });
}

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
    taskSet: turnedNeedleWith({
      cards: sft.tourCards,
      turnedShare: sft.tourTurnedShare,
      easyShare: sft.tourEasyShare,
    }),
    script: turnedScript({
      ...helpful,
      answerAfterSeeing: sft.tourAnswerAfterSeeing,
      answerEasyAtOnce: sft.tourAnswerEasyAtOnce,
      ...turnsAndLooks(sft.tries),
    }),
    firstTask: 0,
    count: sft.tours,
  });
  const mix = { ...sft, beginsAgain: false };
  const { gradedShare, darkShare } = sft;
  const shares = [
    ['turned-needle', 1 - gradedShare - darkShare],
    ['graded-needle', gradedShare],
    ['dark-needle', darkShare],
  ] as const;
  const demonstrations: Trajectory[] = [];
  for (const [name, share] of shares) {
    demonstrations.push(
      ...(await demonstrate({
        ...shared,
        stage: `demonstrations of ${name}`,
        taskSet: taskSets.get(name),
        script: turnedScript({
          ...mix,
          ...turnsAndLooks(name === 'dark-needle' ? sft.darkTries : sft.tries),
        }),
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
    printShare: sft.printShare,
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
