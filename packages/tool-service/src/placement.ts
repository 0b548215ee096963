/** Where tools run: a file that puts them into processes, names devices, and sets limits. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError, messageOf } from '@saccade/core';
import { parseJson } from '@saccade/http';
import { z } from 'zod';

const whole = (min: number, max: number, about: string): z.ZodNumber =>
  z.number().int().min(min).max(max).meta({ description: about });

const limits = {
  maxQueued: whole(1, 100_000, 'Calls of the tool that may wait; more are refused with 429.'),
  maxBatch: whole(1, 256, 'Calls in one piece of work, of tools that take several.'),
  maxWaitMs: z
    .number()
    .min(0)
    .max(60_000)
    .meta({ description: 'How long the first call of a batch waits for others.' }),
  maxRunning: whole(1, 4096, 'Pieces of work at a time.'),
  timeoutSeconds: z
    .number()
    .positive()
    .max(86_400)
    .meta({ description: 'Longest call, its wait included.' }),
  runSeconds: z.number().positive().max(86_400).meta({
    description: 'Longest run of a call, its wait excluded; a process that goes on is ended.',
  }),
};

/** Limits of a tool; each may be left out. */
const limitsSchema = z.strictObject(limits).partial();

const environment = z.record(z.string().min(1), z.string());

/** A tool by its name, or with the settings that its unit takes. */
const namedTool = z.union([z.string().min(1), z.looseObject({ name: z.string().min(1) })]);

const processSchema = z.strictObject({
  name: z
    .string()
    .max(40)
    .regex(/^[a-z][a-z0-9-]*$/)
    .meta({ description: 'For messages and metrics.' }),
  tools: z.array(namedTool).min(1),
  copies: z
    .union([whole(1, 64, 'Processes alike.'), z.array(environment).min(1).max(64)])
    .default(1)
    .meta({ description: 'How many processes alike, or the environment of each.' }),
  environment: environment
    .default({})
    .meta({ description: 'Added to the environment of all of them, e.g. CUDA_VISIBLE_DEVICES.' }),
  concurrency: whole(1, 256, 'Pieces of work that one process does at a time.').default(1),
  memoryMib: whole(64, 1_048_576, 'Memory at which a process is ended.').optional(),
  startSeconds: z.number().positive().max(3600).default(120),
  graceSeconds: z
    .number()
    .min(0)
    .max(600)
    .default(2)
    .meta({ description: 'A call that ran too long has this long to end; then its process is.' }),
});

/** The content of a placement file. */
const placementSchema = z.strictObject({
  modules: z
    .array(z.string().min(1))
    .default([])
    .meta({ description: 'Files, relative to this one, whose exports are more tools.' }),
  own: z
    .array(namedTool)
    .default([])
    .meta({ description: 'Tools in the process of the service itself.' }),
  processes: z.array(processSchema).default([]),
  limits: limitsSchema.default({}).meta({ description: 'Of every tool.' }),
  tools: z
    .record(z.string().min(1), limitsSchema)
    .default({})
    .meta({ description: 'Of single tools, by name.' }),
});

/** A placement with its defaults. */
export type Placement = z.output<typeof placementSchema>;
/** A placement as it is written: what has a default may be left out. */
export type PlacementInput = z.input<typeof placementSchema>;
export type PlacedProcess = Placement['processes'][number];

/** A placement in a file of TypeScript: `export const placement = definePlacement({ … })`. */
export function definePlacement(placement: PlacementInput): PlacementInput {
  return placement;
}

/**
 * Checks a placement.
 *
 * @throws ConfigError naming the field
 */
export function checkPlacement(value: unknown): Placement {
  const parsed = placementSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = ['placement', ...(issue?.path ?? [])].map(String).join('.');
    throw new ConfigError(path, `${path}: ${issue?.message}.`);
  }
  const names = parsed.data.processes.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) {
    throw new ConfigError('placement.processes', `placement.processes: ${twice} stands twice.`);
  }
  return parsed.data;
}

/**
 * Reads a placement from a file: JSON, or TypeScript or JavaScript that exports `placement`. Its
 * modules become absolute addresses.
 *
 * @throws ConfigError naming the file or the field
 */
export async function loadPlacement(path: string): Promise<Placement> {
  const file = resolve(path);
  if (!existsSync(file)) {
    throw new ConfigError('placement', `There is no file ${file}. Give the path of a placement.`);
  }
  const placement = checkPlacement(await readValue(file));
  const modules = placement.modules.map(
    (module) => pathToFileURL(resolve(dirname(file), module)).href,
  );
  return { ...placement, modules };
}

async function readValue(file: string): Promise<unknown> {
  try {
    if (file.endsWith('.json')) return parseJson(readFileSync(file, 'utf8'));
    const { createJiti } = await import('jiti');
    const jiti = createJiti(file, { interopDefault: false, tryNative: !/\.[cm]?ts$/.test(file) });
    const exported: Readonly<Record<string, unknown>> = await jiti.import(file);
    return exported.placement ?? exported.default;
  } catch (error) {
    const [line] = messageOf(error).split('\n');
    throw new ConfigError('placement', `${file} cannot be read: ${line}`);
  }
}

/** A tool's name and its settings. */
export function namedToolOf(given: Placement['own'][number]): {
  readonly name: string;
  readonly settings: Readonly<Record<string, unknown>>;
} {
  if (typeof given === 'string') return { name: given, settings: {} };
  const { name, ...settings } = given;
  return { name, settings };
}
