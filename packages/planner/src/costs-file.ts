/** A file of measured costs: its fields with units, and its reading. */
import { readFileSync } from 'node:fs';
import { ConfigError, DataError, messageOf } from '@saccade/core';
import { count, flag, quantity, readSettings, type SettingsOf, z } from '@saccade/core/settings';
import { schedulers } from '@saccade/schedulers';
import { parse } from 'yaml';
import type { DecodePoint } from './decode-table.ts';
import type { GroupProfile } from './profile.ts';
import { rolloutSettings, synthesizeGroups } from './synthetic-rollouts.ts';

/** A number without a default: nobody can guess it. */
function measured(min: number, max: number, unit: string, about: string): z.ZodNumber {
  return z.number().min(min).max(max).meta({ unit, description: about });
}

const PROCESSORS = { min: 0, max: 100_000, default: 0, unit: 'processors' } as const;
const SECONDS = { min: 0, max: 1e6, default: 0, unit: 'seconds' } as const;
const STEPS = { min: 0, max: 1_000_000, default: 0, unit: 'steps' } as const;

function isTable(value: unknown): value is readonly DecodePoint[] {
  const isPoint = (point: unknown): boolean =>
    Array.isArray(point) &&
    point.length === 2 &&
    point.every((part) => typeof part === 'number' && Number.isFinite(part) && part > 0);
  return Array.isArray(value) && value.length > 0 && value.every(isPoint);
}

/** Everything that takes time, and how many of it there are where that is not planned. */
export const costSettings = z.strictObject({
  engine: z.strictObject({
    gpus: count({ min: 1, max: 1024, default: 1, unit: 'GPUs', about: 'GPUs of one engine.' }),
    decode: z
      .custom<readonly DecodePoint[]>(isTable, 'pairs above 0, as [[1, 40], [64, 1500]]')
      .meta({
        unit: 'tokens per second',
        description: 'Pairs: sequences at a time, and tokens per second over all of them.',
      }),
    prefillTokensPerSecond: measured(1e-3, 1e9, 'tokens per second', 'Speed of one engine.'),
    maxSequences: count({
      min: 1,
      max: 1_000_000,
      default: 256,
      unit: 'sequences',
      about: 'Most that one engine runs at a time.',
    }),
    heldPasses: count({
      min: 0,
      max: 10_000,
      default: 0,
      unit: 'passes',
      about: 'Passes for which new requests wait while fewer wait than run; 64 for Saccade’s own.',
    }),
    requestSeconds: quantity({
      ...SECONDS,
      about: 'The way of a request and back; nothing waits.',
    }),
    promptSharing: quantity({
      min: 0,
      max: 1,
      default: 1,
      unit: 'share',
      about: 'How much less a prompt takes for the others of a group than for the first.',
    }),
    processors: quantity({
      ...PROCESSORS,
      about: 'Kept busy by an engine at work, where machine.processors are shared.',
    }),
    mainThread: quantity({
      min: 0,
      max: 1,
      default: 0,
      unit: 'share',
      about: 'Of the run’s main thread, kept busy by an engine in its process.',
    }),
  }),
  tools: z.strictObject({
    perGpu: quantity({
      min: 1e-3,
      max: 10_000,
      default: 8,
      unit: 'sandboxes',
      about: 'Sandboxes for each GPU of the plan.',
    }),
    openSeconds: quantity({
      ...SECONDS,
      about: 'Opening and ending the sandbox of a trajectory, before its first tool.',
    }),
    openServers: count({
      min: 0,
      max: 1_000_000,
      default: 0,
      unit: 'sandboxes',
      about: 'That open at a time, as servers fork them one by one; 0: all.',
    }),
    workShare: quantity({
      min: 0,
      max: 1,
      default: 1,
      unit: 'share',
      about: 'Of the recorded time of a tool, in which it worked; it waited for processors else.',
    }),
  }),
  main: z.strictObject({
    secondsPerTurn: quantity({
      ...SECONDS,
      about: 'The main process, which does one thing at a time: parsing, images, environments.',
    }),
    secondsPerRequest: quantity({
      ...SECONDS,
      about: 'The main process, for a request to an engine elsewhere.',
    }),
  }),
  machine: z.strictObject({
    processors: quantity({
      ...PROCESSORS,
      about: 'Of the machine that engine, learner and sandboxes share on 1 GPU; 0: none is shared.',
    }),
  }),
  reward: z.strictObject({
    secondsPerTrajectory: quantity({ ...SECONDS, about: 'Scoring a trajectory.' }),
    servers: count({ min: 1, max: 100_000, default: 16, unit: 'judges', about: 'At a time.' }),
  }),
  learner: z.strictObject({
    gpus: quantity({ min: 1e-3, max: 1e5, default: 1, unit: 'GPUs', about: 'GPUs measured.' }),
    processors: quantity({
      ...PROCESSORS,
      about: 'Kept busy by a learner at work, where machine.processors are shared.',
    }),
    secondsPerToken: measured(0, 1e3, 'seconds', 'Forward, backward and loss of a packed token.'),
    scoreSecondsPerToken: quantity({ ...SECONDS, about: 'Rescoring a token; 0 without it.' }),
    rescoreSecondsPerToken: quantity({
      ...SECONDS,
      about:
        'Scoring a token again that an engine elsewhere sampled, where the scheduler does not stream.',
    }),
    secondsPerStep: quantity({ ...SECONDS, about: 'Of a step, whatever its size.' }),
    microBatchTokens: count({
      min: 1,
      max: 1e9,
      default: 8192,
      unit: 'tokens',
      about: 'Packed tokens of a pass of one GPU.',
    }),
    efficiencyPerDoubling: quantity({
      min: 0.1,
      max: 1,
      default: 0.95,
      unit: 'share',
      about: 'Speed kept for each doubling of the GPUs. An assumption until it is measured.',
    }),
    parameters: quantity({ min: 0, max: 1e13, default: 0, unit: 'weights', about: 'Sharded.' }),
    bytesPerParameter: quantity({ min: 0, max: 16, default: 2, unit: 'bytes', about: 'Moved.' }),
    gatherBytesPerSecond: quantity({
      min: 1,
      max: 1e15,
      default: 1e11,
      unit: 'bytes per second',
      about: 'All-gather of FSDP, for each GPU. An assumption until it is measured.',
    }),
    overlap: quantity({
      min: 0,
      max: 1,
      default: 0.8,
      unit: 'share',
      about: 'Share of the gathering that computing hides. An assumption until it is measured.',
    }),
  }),
  publish: z.strictObject({
    seconds: quantity({ ...SECONDS, about: 'Engines stand still for new weights.' }),
    drains: flag({
      default: false,
      about: 'Whether requests that run end with the old weights first, while new ones wait.',
    }),
    secondsPerEngine: quantity({ ...SECONDS, about: 'More for each engine after the first.' }),
    recomputes: quantity({
      min: 0,
      max: 1000,
      default: 1,
      unit: 'times',
      about: 'Contexts in flight are computed again per step; 0 where caches are kept.',
    }),
  }),
  evaluation: z.strictObject({
    seconds: quantity({ ...SECONDS, about: 'Of an evaluation.' }),
    everySteps: count({ ...STEPS, about: 'Steps between two; 0: none.' }),
  }),
  checkpoint: z.strictObject({
    seconds: quantity({ ...SECONDS, about: 'Of a checkpoint.' }),
    everySteps: count({ ...STEPS, about: 'Steps between two; 0: none.' }),
  }),
  training: z.strictObject({
    groupSize: count({ min: 1, max: 4096, default: 8, unit: 'trajectories', about: 'G.' }),
    concurrency: count({
      min: 1,
      max: 10_000_000,
      default: 100_000,
      unit: 'trajectories',
      about: 'In flight at a time.',
    }),
    sharedPrefix: flag({ default: true, about: 'Whether a group’s prompt is computed once.' }),
  }),
});

/** Costs with every default filled in. */
export type Costs = SettingsOf<typeof costSettings>;

/** A whole file: costs, a scheduler, and what rollouts are drawn from. */
export interface CostDocument {
  readonly costs: Costs;
  readonly scheduler: Readonly<Record<string, unknown>> & { readonly name: string };
  readonly groups: readonly GroupProfile[];
  /** Sentences: where each part came from, and what is assumed. */
  readonly assumptions: readonly string[];
}

type Fields = Record<string, unknown>;

/**
 * Checks a document of costs.
 *
 * @param fields  as a file has them; `scheduler` and `rollouts` beside the costs
 * @param groups  recorded rollouts, which come before those that the document describes
 * @throws ConfigError naming the field, what came and what was expected
 */
export function readCosts(
  fields: Fields,
  { groups, assumptions = [] }: Partial<Pick<CostDocument, 'groups' | 'assumptions'>> = {},
): CostDocument {
  const { scheduler = { name: 'synchronous' }, rollouts, ...rest } = fields;
  const known = Object.fromEntries(Object.keys(costSettings.shape).map((key) => [key, {}]));
  const costs = readSettings('costs', costSettings, { ...known, ...rest });
  const chosen = typeof scheduler === 'string' ? { name: scheduler } : (scheduler as Fields);
  const name = String(chosen.name);
  schedulers.get(name);
  if (groups !== undefined) return { costs, scheduler: { ...chosen, name }, groups, assumptions };
  const described = readSettings('rollouts', rolloutSettings, rollouts ?? {});
  return {
    costs,
    scheduler: { ...chosen, name },
    groups: synthesizeGroups(described),
    assumptions: [...assumptions, 'Rollouts are synthetic: lengths and times are log-normal.'],
  };
}

/** The fields of a YAML or JSON file. @throws DataError if it cannot be read or is no mapping */
export function readCostsFile(path: string): Fields {
  let value: unknown;
  try {
    value = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new DataError(
      `${path} cannot be read as YAML or JSON: ${messageOf(error).split('\n')[0]} Mend the file.`,
      { cause: error },
    );
  }
  if (isFields(value)) return value;
  throw new DataError(`${path} holds no mapping of costs. Begin with \`engine:\`.`);
}

/** Puts the value of a dotted path into fields: `engine.maxSequences`. */
export function setCost(fields: Fields, path: string, value: unknown): Fields {
  const [key = '', ...rest] = path.split('.');
  if (key === '' || key === '__proto__') {
    throw new ConfigError('--set', `"${path}" names no cost. E.g. engine.maxSequences=512.`);
  }
  if (rest.length === 0) return { ...fields, [key]: value };
  const inner = fields[key];
  return { ...fields, [key]: setCost(isFields(inner) ? inner : {}, rest.join('.'), value) };
}

/**
 * Fields over fields: those of `over` win, one by one. A unit of another name, such as a scheduler, has
 * settings of its own: it takes none of what was there.
 */
export function mergeCosts(under: Fields, over: Fields): Fields {
  const isOther = 'name' in over && 'name' in under && over.name !== under.name;
  const merged: Fields = isOther ? {} : { ...under };
  for (const [key, value] of Object.entries(over)) {
    const before = merged[key];
    merged[key] = isFields(before) && isFields(value) ? mergeCosts(before, value) : value;
  }
  return merged;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
