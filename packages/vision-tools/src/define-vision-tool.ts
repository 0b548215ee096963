/** A visual tool as a unit: its arguments, its settings, and what it does on this machine. */

import { availableParallelism } from 'node:os';
import { count, flag, quantity, type SettingsSchema } from '@saccade/core/settings';
import type { Outcome } from '@saccade/sandbox';
import {
  defineTool,
  defineToolUnit,
  type GivenArguments,
  refused,
  type Tool,
  type ToolContext,
  type ToolHost,
  type ToolImage,
  type ToolUnit,
} from '@saccade/tools';
import { z } from 'zod';
import { declined } from './outcomes.ts';
import { pngSize } from './png.ts';
import { leaseEngine, maxPixels } from './workers/shared-engine.ts';
import {
  DeclinedError,
  type EngineResult,
  type RunOptions,
  type VisionEngine,
} from './workers/vision-engine.ts';

const common = {
  timeoutSeconds: quantity({
    default: 60,
    min: 0.1,
    max: 3600,
    unit: 'seconds',
    about: 'How long a call may work; waiting for a free worker does not count.',
  }),
  workers: count({
    default: 0,
    min: 0,
    max: 256,
    unit: 'processes',
    about:
      'Python processes that all visual tools of a run share; 0: one per processor, at most 4.',
  }),
  workerMemoryMb: count({
    default: 2048,
    min: 256,
    max: 65_536,
    unit: 'MB',
    about: 'Memory of each of these processes.',
  }),
  warmUp: flag({
    default: false,
    about: 'Whether processes start and load weights when the run does, not at the first call.',
  }),
};

/** Settings that every visual tool has. */
export type CommonSettings = z.output<z.ZodObject<typeof common, z.core.$strict>>;

/** The engine with the deadline and the signal of a call filled in. */
export interface CallEngine {
  /**
   * Runs an operation of `python/operations`; errors as in `VisionEngine.run`.
   *
   * @param images  the call's, or PNG bytes
   */
  run(
    operation: string,
    params: object,
    images?: readonly (ToolImage | Uint8Array)[],
    options?: Partial<RunOptions>,
  ): Promise<EngineResult>;
}

/** A tool before it is a unit. */
export interface VisionToolDefinition<
  Name extends string,
  Shape extends z.ZodRawShape,
  Own extends z.ZodRawShape,
> {
  /** On the wire and in the run's settings, in snake_case. */
  readonly name: Name;
  /** What it does, for the prompt. */
  readonly description: string;
  /** What does it on this machine, added to the description: `NanoDet, 80 classes of COCO.` */
  readonly says: string;
  /** Every argument; others are refused. */
  readonly parameters: Shape;
  /** Arguments that fit and that any image answers. */
  readonly example: GivenArguments;
  /** Settings of its own beside the common ones. */
  readonly settings?: Own;
  /** Operations that `warmUp` loads. */
  readonly operations?: readonly string[];
  /** A folder with these operations, where they are not this package's. */
  readonly folder?: string;
  /**
   * Does the work. A `DeclinedError` of the engine becomes an outcome.
   *
   * @throws ToolError if the infrastructure fails
   */
  embedded(
    given: z.output<z.ZodObject<Shape, z.core.$strict>>,
    context: ToolContext,
    engine: CallEngine,
    settings: z.output<z.ZodObject<typeof common & Own, z.core.$strict>>,
  ): Promise<Outcome>;
}

/** A unit that opens one tool, on the workers that all visual tools of a run share. */
export function defineVisionTool<
  const Name extends string,
  Shape extends z.ZodRawShape,
  // biome-ignore lint/complexity/noBannedTypes: no settings of its own
  Own extends z.ZodRawShape = {},
>(definition: VisionToolDefinition<Name, Shape, Own>): ToolUnit & { readonly name: Name } {
  const { name, operations = [], folder } = definition;
  const schema = z.strictObject({ ...common, ...(definition.settings ?? ({} as Own)) });
  type Settings = z.output<typeof schema>;
  const unclaimed: VisionEngine = {
    async run() {
      throw new Error(`${name} is described only. Open it before it is called.`);
    },
  };
  const toolWith = (engine: VisionEngine, settings: Settings): Tool =>
    defineTool({
      name,
      description: `${definition.description} On this machine: ${definition.says}`,
      parameters: definition.parameters,
      example: definition.example,
      run: (given, context) =>
        outcomeOf(() => {
          const bound = bind(engine, context, (settings as CommonSettings).timeoutSeconds * 1000);
          return definition.embedded(given, context, bound, settings as never);
        }),
    });
  return defineToolUnit<Name, SettingsSchema>({
    name,
    description: definition.description,
    settings: schema as unknown as SettingsSchema,
    describe: (settings) => [toolWith(unclaimed, settings as Settings)],
    async open(settings, host: ToolHost) {
      const { workers, workerMemoryMb, warmUp } = settings as CommonSettings;
      const { engine, release } = await leaseEngine(host, {
        workers: workers === 0 ? Math.min(4, availableParallelism()) : workers,
        memoryMb: workerMemoryMb,
        ...(folder === undefined ? {} : { folder }),
        ...(warmUp ? { warm: operations } : {}),
      });
      return { tools: [toolWith(engine, settings as Settings)], dispose: release };
    },
  });
}

/** The image of a call by its index, or the outcome that says there is none. */
export function imageAt(context: ToolContext, index: number): ToolImage | Outcome {
  const image = context.images[index];
  if (image !== undefined) return image;
  const last = context.images.length - 1;
  const remedy = last < 0 ? 'Give an image.' : `Write 0 to ${last}.`;
  return refused('BadArgument', `There is no image ${index}. ${remedy}`);
}

/** Whether `imageAt` gave an outcome. */
export function isOutcome(given: ToolImage | Outcome): given is Outcome {
  return 'kind' in given;
}

function bind(engine: VisionEngine, { signal }: ToolContext, deadlineMs: number): CallEngine {
  return {
    async run(operation, params, images = [], options = {}) {
      const pngs = images.map((image) => (image instanceof Uint8Array ? image : image.png));
      for (const png of pngs) checkImage(png);
      const aborting = signal === undefined ? {} : { signal };
      return await engine.run(operation, params, pngs, { deadlineMs, ...aborting, ...options });
    },
  };
}

function checkImage(png: Uint8Array): void {
  const size = pngSize(png);
  if (size === undefined) {
    throw new DeclinedError('UnreadableImage', 'The image is no PNG. Give another one.');
  }
  const { width, height } = size;
  if (width * height <= maxPixels) return;
  throw new DeclinedError(
    'ImageTooLarge',
    `The image has ${width} x ${height} pixels, more than ${maxPixels / 1e6} million. Crop it first.`,
  );
}

async function outcomeOf(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DeclinedError) return declined(error.type, error.message);
    throw error;
  }
}
