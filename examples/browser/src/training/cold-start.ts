/** The cold start: supervised learning on scripted trajectories, on the model's tokens alone. */
import type { Mixture } from '@saccade/data';
import { createSupervisedLearner } from '@saccade/learner';
import { adamw, cosine } from '@saccade/optim';
import type { Trajectory } from '@saccade/trajectory';
import { type CardsOptions, cardsTask } from '../task/cards.ts';
import {
  type DemonstrationMix,
  demonstrate,
  guide,
  readingMix,
  tourMix,
} from './demonstrations.ts';
import type { Examples } from './presets.ts';
import type { Run } from './run.ts';

/** Second-moment decay of AdamW: short, for a few hundred updates. */
const BETA2 = 0.98;
/** Tasks whose demonstrations are made between two looks at the clock of the page. */
const CHUNK = 32;

/** Learns to write calls, to find cards and to read them, and to be careless about it. */
export async function coldStart(run: Run): Promise<void> {
  const { preset, seed } = run.settings;
  const { policy, images } = run.parts;
  const { microBatchTokens } = preset;
  const { updates, learningRate } = preset.coldStart;
  const mixtures = await gather(run);
  const learner = createSupervisedLearner({
    policy,
    images,
    optimizer: adamw.create({ beta2: BETA2, weightDecay: 0.01, maxGradNorm: 1 }),
    schedule: cosine.create(
      { peak: learningRate, total: updates },
      { warmupFraction: 0.05, finalFraction: 0.05 },
    ),
    seed,
    microBatchTokens,
  });
  run.onEvent({ kind: 'progress', stage: 'cold start', done: 0, total: updates });
  for (let step = 0; step < updates; step++) {
    await run.pass();
    const { loss, losses, entropy, gradNorm } = await learner.learn(mixtures, step);
    const values = { loss, ...losses, entropy, gradNorm };
    run.onEvent({ kind: 'step', stage: 'cold start', step: step + 1, values });
    run.onEvent({ kind: 'progress', stage: 'cold start', done: step + 1, total: updates });
  }
  // Its moments belong to another loss.
  policy.resetOptimizer();
}

async function gather(run: Run): Promise<readonly Mixture[]> {
  const { parts, settings } = run;
  const { processor } = parts.policy;
  const { coldStart, task, toolCalls } = settings.preset;
  const { mix, tours, demonstrations, readings } = coldStart;
  const total = tours.count + demonstrations.count + readings.count;
  let done = 0;
  const make = async (
    kindMix: DemonstrationMix,
    first: number,
    { count }: Examples,
    options: CardsOptions = task,
  ): Promise<readonly Trajectory[]> => {
    const made: Trajectory[] = [];
    while (made.length < count) {
      await run.pass();
      const start = first + made.length;
      const size = Math.min(CHUNK, count - made.length);
      const tasks = Array.from({ length: size }, (_, i) => cardsTask(options, 'train', start + i));
      const { makeEnv, images } = parts;
      const { cells } = options;
      const how = { makeEnv, processor, images, mix: kindMix, cells, toolCalls };
      made.push(...(await demonstrate(tasks, { ...how, seed: settings.seed })));
      done += size;
      run.onEvent({ kind: 'progress', stage: 'preparing', done, total });
    }
    return made;
  };
  const toured = await make(tourMix(mix), 0, tours);
  const shown = await make(mix, tours.count, demonstrations);
  const read = await make(readingMix, 0, readings, { ...task, cells: 1, cards: 1 });
  const guided = (list: readonly Trajectory[]) => list.map((one) => guide(one, processor));
  return [
    { kind: 'tours', examples: guided(toured), perUpdate: tours.perUpdate },
    { kind: 'demonstrations', examples: shown, perUpdate: demonstrations.perUpdate },
    { kind: 'readings', examples: guided(read), perUpdate: readings.perUpdate },
  ];
}
