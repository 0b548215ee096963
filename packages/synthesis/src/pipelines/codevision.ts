/**
 * CodeVision's metadata-conditioned loop (arXiv:2512.03746, §3.2.1): five types of examples, made step by
 * step; every step is compared with the canonical image and kept, asked for again, or the example is
 * discarded. `guidedPlay` is the loop.
 */
import { randomAt } from '@saccade/core';
import { count, quantity, type SettingsOf } from '@saccade/core/settings';
import type { DialogSample } from '@saccade/data/formats';
import type { Task } from '@saccade/gym';
import { boxedContent } from '@saccade/rewards';
import pLimit from 'p-limit';
import { z } from 'zod';
import { area, type Box, coverage } from '../canonical.ts';
import type { SynthesisContext } from '../context.ts';
import { type Goal, type Guided, guidedPlay } from '../guided-play.ts';
import { definePipeline, type StepCount } from '../pipeline.ts';
import { GuidedLog } from './guided-log.ts';
import { stepCount, tags } from './shared.ts';

const types = ['single', 'multi', 'multiCrop', 'errorHandling', 'noTool'] as const;
type ExampleType = (typeof types)[number];

const share = (about: string) =>
  quantity({ min: 0, max: 1, default: 0.2, unit: 'fraction of examples', about });

const settings = z.strictObject({
  single: share('Examples of one tool; the paper prints no proportions.'),
  multi: share('Examples of several tools in order.'),
  multiCrop: share('Examples of crops in shrinking windows.'),
  errorHandling: share('Examples in which a step fails and is put right.'),
  noTool: share('Examples that are answered at once.'),
  maxTargetShare: quantity({
    ...{ min: 0, max: 1, default: 1e-4, unit: 'fraction of the image' },
    about: 'Largest target that a crop may be asked for; larger ones need none.',
  }),
  tolerance: quantity({
    ...{ min: 0, max: 255, default: 2, unit: 'gray levels' },
    about: 'Mean difference from the canonical image up to which an image is turned back.',
  }),
  leastCoverage: quantity({
    ...{ min: 0, max: 1, default: 0.9, unit: 'fraction of the target' },
    about: 'Part of the target that a crop has to show.',
  }),
  mostCropShare: quantity({
    ...{ min: 0, max: 1, default: 0.25, unit: 'fraction of the image' },
    about: 'Largest part of the image that the last crop may show.',
  }),
  windows: count({
    ...{ min: 2, max: 20, default: 3, unit: 'crops' },
    about: 'Crops of an example with shrinking windows.',
  }),
  shrink: quantity({
    ...{ min: 0.01, max: 1, default: 0.7, unit: 'fraction of the area' },
    about: 'Largest area of a window, compared with the one before.',
  }),
  corrections: count({
    ...{ min: 0, max: 100, default: 1, unit: 'tries' },
    about: 'Times that a step is asked for again before the example is discarded.',
  }),
});

type Settings = SettingsOf<typeof settings>;

export const codevision = definePipeline({
  name: 'codevision',
  description: 'CodeVision’s loop: steps checked against the canonical image, five types, errors.',
  paper: 'CodeVision, arXiv:2512.03746, §3.2.1',
  needs: [],
  settings,
  async run(chosenSettings, context) {
    const { tasks, teacher, onEvent, spent } = context;
    const { chosen, count: choice } = choose(tasks, chosenSettings);
    const log = await GuidedLog.open(context.directory);
    const limit = pLimit(context.concurrency);
    let done = 0;
    const made = await Promise.all(
      chosen.map(({ task, type }) =>
        limit(async () => {
          context.signal?.throwIfAborted();
          const guided = await log.once(`${task.id}/${type}`, () =>
            guidedPlay(task, {
              ...{ sampler: teacher.sampler, protocol: teacher.protocol },
              makeEnv: teacher.envOf(teacher.protocol),
              ...plan(task, type, chosenSettings, context),
            }),
          );
          const note = spent?.();
          const progress = { stage: 'examples', done: ++done, total: chosen.length };
          onEvent({ kind: 'progress', ...progress, ...(note !== undefined && { note }) });
          return { task, type, guided };
        }),
      ),
    );
    const steps: StepCount[] = [choice];
    for (const type of types) {
      const own = made.filter((one) => one.type === type);
      const reasons: Record<string, number> = {};
      for (const { guided } of own) {
        if (guided.kind === 'discarded') reasons[guided.reason] = (reasons[guided.reason] ?? 0) + 1;
      }
      steps.push(stepCount(`${type}: steps against the canonical image`, own.length, reasons));
    }
    const corrected = made.filter(({ guided }) => guided.kind === 'kept' && guided.corrected > 0);
    const mistakes = made.flatMap(({ guided }) =>
      guided.kind === 'kept' && guided.mistake !== undefined ? [guided.mistake] : [],
    );
    return {
      samples: made.flatMap(({ task, type, guided }) => sampleOf(task, type, guided)),
      steps,
      facts: [
        { name: 'kept without a correction', value: keptOf(made) - corrected.length },
        { name: 'kept after a correction', value: corrected.length },
        ...[...new Set(mistakes)].sort().map((mistake) => ({
          name: `recovered from ${mistake}`,
          value: mistakes.filter((one) => one === mistake).length,
        })),
      ],
    };
  },
});

type Made = readonly { readonly guided: Guided }[];

const keptOf = (made: Made): number => made.filter(({ guided }) => guided.kind === 'kept').length;

function sampleOf(task: Task, type: ExampleType, guided: Guided): readonly DialogSample[] {
  if (guided.kind === 'discarded') return [];
  const { messages, corrected, mistake, mistakeTurn } = guided;
  return [
    {
      id: `${task.id}/${type}`,
      messages,
      tags: {
        ...tags(task),
        ...{ type, isCorrect: true, corrected },
        ...(mistake !== undefined && { mistake }),
        ...(mistakeTurn !== undefined && { injectedTurn: mistakeTurn }),
      },
    },
  ];
}

const toolsOf = ({ metadata }: Task): readonly string[] =>
  Array.isArray(metadata.requiredTools) ? (metadata.requiredTools as string[]) : [];

function boxOf({ metadata }: Task): Box | undefined {
  return Array.isArray(metadata.box) && metadata.box.length === 4
    ? (metadata.box as unknown as Box)
    : undefined;
}

/** Whether the target is so small that a crop is needed. */
function isSmall(task: Task, { maxTargetShare }: Settings): boolean {
  const [image] = task.images;
  const box = boxOf(task);
  if (image === undefined || box === undefined) return false;
  return area(box) <= maxTargetShare * image.width * image.height;
}

/** Assigns each task the type that it fits and that lacks most examples. */
function choose(tasks: readonly Task[], settings: Settings) {
  const made = new Map<ExampleType, number>(types.map((type) => [type, 0]));
  const chosen: { readonly task: Task; readonly type: ExampleType }[] = [];
  let [unfit, large] = [0, 0];
  for (const task of tasks) {
    const tools = toolsOf(task);
    const crops = tools.includes('crop');
    if (crops && !isSmall(task, settings)) {
      large++;
      continue;
    }
    const fits = types.filter((type) => {
      if (settings[type] === 0) return false;
      if (type === 'noTool') return tools.length === 0;
      if (type === 'single') return tools.length === 1;
      if (type === 'multi') return tools.length > 1;
      return type === 'multiCrop' ? crops : tools.length > 0;
    });
    const lack = (type: ExampleType): number => (made.get(type) ?? 0) / settings[type];
    const [type] = [...fits].sort((a, b) => lack(a) - lack(b));
    if (type === undefined) {
      unfit++;
      continue;
    }
    made.set(type, (made.get(type) ?? 0) + 1);
    chosen.push({ task, type });
  }
  const reasons = {
    ...(unfit > 0 && { 'fits no type': unfit }),
    ...(large > 0 && { 'target too large for a crop': large }),
  };
  return { chosen, count: stepCount('types', tasks.length, reasons) };
}

/** What an example of a type has to do, in order. */
function plan(task: Task, type: ExampleType, settings: Settings, context: SynthesisContext) {
  const random = randomAt(context.seed, 'codevision', task.id, type);
  const turns = toolsOf(task).filter((tool) => tool !== 'crop');
  const goals: Goal[] = [];
  if (type !== 'noTool') {
    for (const tool of turns) goals.push(turnGoal(tool, settings));
    const windows = type === 'multiCrop' ? settings.windows : 1;
    const box = boxOf(task);
    if (toolsOf(task).includes('crop') && box !== undefined) {
      goals.push(...cropGoals(task, box, windows, settings));
    }
  }
  const { verifier, teacher, temperature, maxTurnTokens, signal } = context;
  return {
    ...{ goals, random, temperature, maxTurnTokens, corrections: settings.corrections },
    protocol: teacher.protocol,
    ...(type === 'errorHandling' && { errorAt: random.integer(goals.length) }),
    isRight: (answer: string) =>
      verifier.verify(boxedContent(answer) ?? answer, task.answer) >= 0.5,
    ...(signal && { signal }),
  };
}

function turnGoal(tool: string, { tolerance }: Settings): Goal {
  return {
    hint: `The image does not stand as it should; ${tool} puts it right. Show the result.`,
    async misses({ frame, image }) {
      const difference = await frame.difference(image);
      return difference <= tolerance ? undefined : 'does not give the canonical image';
    },
  };
}

/** Crops onto the target; of several, each lies in the one before and is smaller. */
function cropGoals(task: Task, target: Box, windows: number, settings: Settings): readonly Goal[] {
  const [image] = task.images;
  const whole = (image?.width ?? 1) * (image?.height ?? 1);
  let last: Box | undefined;
  return Array.from({ length: windows }, (_, index): Goal => {
    const isLast = index === windows - 1;
    const place = `${target.map(Math.round).join(', ')} (left, top, right, bottom of the upright image)`;
    const which =
      windows === 1
        ? 'Crop to it and show the crop.'
        : `This is window ${index + 1} of ${windows}: each lies in the last one and is smaller.`;
    return {
      hint: `What is asked about lies at ${place}. ${which}`,
      misses({ box, isUpright }) {
        if (box === undefined) return 'shows what cannot be placed in the image';
        if (!isUpright) return 'shows the image turned or mirrored';
        if (coverage(target, box) < settings.leastCoverage) return 'does not show the target';
        if (isLast && area(box) > settings.mostCropShare * whole) return 'shows too much';
        if (last !== undefined) {
          if (coverage(box, last) < 0.999) return 'leaves the window before';
          if (area(box) > settings.shrink * area(last)) return 'hardly shrinks the window';
        }
        last = box;
        return undefined;
      },
    };
  });
}
