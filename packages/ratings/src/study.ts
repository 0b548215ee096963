/** A study: which trajectories are rated, by whom, in which order, and what only its key knows. */
import { createHash } from 'node:crypto';
import { ConfigError, DataError, randomAt } from '@saccade/core';
import { z } from 'zod';

/** `pairs`: two models' trajectories of a task side by side. `single`: one at a time, on a scale. */
export type StudyMode = 'pairs' | 'single';

/** One rating that a rater can give. */
export interface Choice {
  /** As files write it: `A`, `tie`, `B`; `1` to `5`. */
  readonly value: string;
  /** As people read it. */
  readonly label: string;
}

/** The choices of a comparison. */
export const pairChoices: readonly Choice[] = [
  { value: 'A', label: 'A is better' },
  { value: 'tie', label: 'Equally good' },
  { value: 'B', label: 'B is better' },
];

/** The choices of a single trajectory, worst first. */
export const scaleChoices: readonly Choice[] = [
  { value: '1', label: '1 · bad' },
  { value: '2', label: '2' },
  { value: '3', label: '3' },
  { value: '4', label: '4' },
  { value: '5', label: '5 · good' },
];

/** One item of a study, as the key has it. */
const itemSchema = z.strictObject({
  /** Blind: a hash that names no model. */
  id: z.string().min(1),
  taskId: z.string(),
  /** One model, or two in a random order: the first is A, unless a rater's order swaps them. */
  models: z.array(z.string()).min(1).max(2),
  /** Of each model's trajectory, to find it again. */
  trajectoryIds: z.array(z.string()).min(1).max(2),
});

const placeSchema = z.strictObject({
  id: z.string(),
  /** Whether the item's first model is shown as B. */
  isSwapped: z.boolean(),
});

const keySchema = z.strictObject({
  format: z.literal(1),
  kind: z.literal('ratings-key'),
  /** Of items and orders; files of ratings repeat it. */
  study: z.string().min(1),
  mode: z.enum(['pairs', 'single']),
  title: z.string(),
  criterion: z.string(),
  choices: z.array(z.strictObject({ value: z.string(), label: z.string() })).min(2),
  models: z.array(z.string()).min(1),
  seed: z.number(),
  items: z.array(itemSchema),
  /** By rater: items in the order in which they are shown. */
  orders: z.record(z.string(), z.array(placeSchema)),
});

/** The key of a study: what a rater must not see. Keep it until ratings are imported. */
export type StudyKey = z.infer<typeof keySchema>;

/** An item of a key. */
export type StudyItem = StudyKey['items'][number];

/** The name of a trajectory to be rated. */
export interface RatedTrajectory {
  readonly model: string;
  readonly taskId: string;
  readonly trajectoryId: string;
}

/** Settings of `planStudy`. */
export interface StudyOptions {
  readonly mode: StudyMode;
  readonly title: string;
  /** The question that raters answer. */
  readonly criterion: string;
  /** Names of the raters; each has an order of its own. */
  readonly raters: readonly string[];
  readonly seed: number;
  /** Most tasks; default all. */
  readonly count?: number;
}

/**
 * Plans a study: chooses tasks, pairs models, shuffles items and sides for each rater, and replaces
 * names with hashes. The same input and seed give the same study, in any order of trajectories.
 *
 * @param rated at most one trajectory of each model and task
 * @throws DataError if there is nothing to rate, or two trajectories of a model and task
 * @throws ConfigError for raters without names of their own, or `pairs` of one model
 */
export function planStudy(rated: readonly RatedTrajectory[], options: StudyOptions): StudyKey {
  const { mode, title, criterion, raters, seed, count = Number.POSITIVE_INFINITY } = options;
  const models = [...new Set(rated.map(({ model }) => model))].sort(byCodeUnits);
  expectRaters(raters);
  if (mode === 'pairs' && models.length < 2) {
    throw new ConfigError(
      'mode',
      `mode: pairs need trajectories of two models or more, got ${models.length}. Give another ` +
        'evaluation, or rate single trajectories.',
    );
  }
  const byTask = new Map<string, Map<string, string>>();
  for (const { model, taskId, trajectoryId } of rated) {
    const own = byTask.get(taskId) ?? new Map<string, string>();
    if (own.has(model)) {
      throw new DataError(
        `${model} has two trajectories of task ${taskId}. Give one of each model and task.`,
      );
    }
    byTask.set(taskId, own.set(model, trajectoryId));
  }
  const wanted = (own: ReadonlyMap<string, string>): readonly (readonly string[])[] =>
    mode === 'single'
      ? models.filter((model) => own.has(model)).map((model) => [model])
      : pairsOf(models, own);
  const tasks = [...byTask.keys()].filter((id) => wanted(byTask.get(id) ?? new Map()).length > 0);
  if (tasks.length === 0) {
    throw new DataError(
      'There is nothing to rate: no task has the trajectories that are needed. Give evaluations of ' +
        'the same tasks.',
    );
  }
  const random = randomAt(seed, 'ratings-tasks');
  const chosen = random.shuffle(tasks.sort(byCodeUnits)).slice(0, count);
  const items = chosen.flatMap((taskId) => {
    const own = byTask.get(taskId) ?? new Map<string, string>();
    return wanted(own).map((pair): StudyItem => {
      // In a random order, so that nothing in the page tells which side is always the same model's.
      const sides = randomAt(seed, 'ratings-sides', taskId, ...pair).shuffle(pair);
      const trajectoryIds = sides.map((model) => own.get(model) ?? '');
      const id = digest([seed, taskId, ...sides, ...trajectoryIds]);
      return { id, taskId, models: sides, trajectoryIds };
    });
  });
  const orders = Object.fromEntries(
    raters.map((rater) => {
      const own = randomAt(seed, 'ratings-order', rater);
      const shuffled = own.shuffle(items);
      // Half of the items are swapped, so that no rater's habit favors a model.
      const swaps = own.shuffle(shuffled.map((_, index) => mode === 'pairs' && index % 2 === 1));
      return [rater, shuffled.map(({ id }, at) => ({ id, isSwapped: swaps[at] ?? false }))];
    }),
  );
  const choices = (mode === 'pairs' ? pairChoices : scaleChoices).map((one) => ({ ...one }));
  const content = { mode, criterion, choices, models, seed, items, orders };
  const study = digest([JSON.stringify(content)]);
  return { format: 1, kind: 'ratings-key', study, title, ...content };
}

/** Every pair of models that both have a trajectory. */
function pairsOf(
  models: readonly string[],
  own: ReadonlyMap<string, string>,
): readonly (readonly string[])[] {
  const there = models.filter((model) => own.has(model));
  return there.flatMap((first, at) => there.slice(at + 1).map((second) => [first, second]));
}

function expectRaters(raters: readonly string[]): void {
  const isNamed = raters.every((rater) => /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,39}$/u.test(rater));
  if (raters.length > 0 && isNamed && new Set(raters).size === raters.length) return;
  throw new ConfigError(
    'raters',
    `raters: expected different names of letters and digits, got ${JSON.stringify(raters)}. Write ` +
      'them like --raters 1,2.',
  );
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const DIGITS = 16;

function digest(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, DIGITS);
}

/** @throws DataError for text that is not the key of a study */
export function parseStudyKey(text: string, where: string): StudyKey {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new DataError(`${where}: it is not JSON. Give the key.json of the export.`, { cause });
  }
  const parsed = keySchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new DataError(
    `${where}: ${issue?.path.join('.') || 'the file'} is not as an export writes it: ` +
      `${issue?.message}. Give the key.json of the export.`,
  );
}
