/** A visual tool as a unit: its arguments, its settings, and what it does on this machine. */
import { availableParallelism } from 'node:os';
import { StateError } from '@saccade/core';
import type { SettingsSchema } from '@saccade/core/settings';
import type { Outcome } from '@saccade/sandbox';
import { remoteTools } from '@saccade/tool-service';
import {
  defineTool,
  defineToolUnit,
  type GivenArguments,
  type OpenTools,
  type Tool,
  type ToolContext,
  type ToolHost,
  type ToolImage,
  type ToolUnit,
} from '@saccade/tools';
import { z } from 'zod';
import { checkedSize } from './call-images.ts';
import { type CommonSettings, common } from './common-settings.ts';
import { declined } from './outcomes.ts';
import { leaseEngine } from './workers/shared-engine.ts';
import {
  DeclinedError,
  type EngineResult,
  type RunOptions,
  type VisionEngine,
} from './workers/vision-engine.ts';

export { imageAt, imageIndex, isOutcome } from './call-images.ts';
export type { CommonSettings } from './common-settings.ts';

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
  /** The purpose of the tool, for the prompt. */
  readonly description: string;
  /** How it works on this machine, added to the description: `NanoDet, 80 classes of COCO.` */
  readonly says: string;
  /** Another one where the same call may be answered otherwise. Default `1`. */
  readonly version?: string;
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
  const { name, description, parameters, example, operations = [] } = definition;
  const schema = z.strictObject({ ...common, ...(definition.settings ?? ({} as Own)) });
  type Settings = z.output<typeof schema>;
  const embeddedTool = (engine: VisionEngine, settings: Settings): Tool =>
    defineTool({
      ...{ name, parameters, example },
      description: `${description} Backed by: ${definition.says}`,
      version: definition.version ?? '1',
      isDeterministic: true,
      async run(given, context) {
        const spent = { wallMs: 0, cpuMs: 0 };
        const deadlineMs = (settings as CommonSettings).timeoutSeconds * 1000;
        const bound = bind(engine, context, deadlineMs, spent);
        const work = definition.embedded(given, context, bound, settings as never);
        const outcome = await outcomeOf(work);
        return { ...outcome, wallMs: outcome.wallMs + spent.wallMs, cpuMs: spent.cpuMs };
      },
    });
  const served = defineTool({ name, description, parameters, example, run: unopened(name) });
  return defineToolUnit<Name, SettingsSchema>({
    name,
    description,
    settings: schema as unknown as SettingsSchema,
    describe: (settings) =>
      settings.url === undefined
        ? [embeddedTool({ run: unopened(name) }, settings as Settings)]
        : [served],
    async open(settings, host) {
      const chosen = settings as CommonSettings;
      if (chosen.url !== undefined) return await openServed(served, chosen.url, chosen, host);
      const { engine, release } = await leaseEngine(host, {
        workers: chosen.workers === 0 ? Math.min(4, availableParallelism()) : chosen.workers,
        memoryMb: chosen.workerMemoryMb,
        ...(definition.folder !== undefined && { folder: definition.folder }),
        ...(chosen.warmUp && { warm: operations }),
      });
      return { tools: [embeddedTool(engine, settings as Settings)], dispose: release };
    },
  });
}

/** The behavior of a tool before it is open. */
function unopened(name: string): () => Promise<never> {
  return async () => {
    throw new StateError(`${name} is described only. Open it before it is called.`);
  };
}

/** The tool of a service, which must take the same arguments. */
async function openServed(
  tool: Tool,
  url: string,
  { tokenVariable, timeoutSeconds }: CommonSettings,
  host: ToolHost,
): Promise<OpenTools> {
  const { name, parameters } = tool;
  const token =
    tokenVariable === undefined
      ? undefined
      : host.secret(`tools.${name}.tokenVariable`, tokenVariable);
  return await remoteTools({
    ...{ url, timeoutSeconds, expected: [{ name, parameters }] },
    ...(token !== undefined && { token }),
  });
}

/** @param spent  milliseconds of the workers, added up over all runs of a call */
function bind(
  engine: VisionEngine,
  { signal }: ToolContext,
  deadlineMs: number,
  spent: { wallMs: number; cpuMs: number },
): CallEngine {
  return {
    async run(operation, params, images = [], options = {}) {
      const pngs = images.map((image) => (image instanceof Uint8Array ? image : image.png));
      for (const png of pngs) {
        const size = checkedSize(png);
        if (size instanceof DeclinedError) throw size;
      }
      const bounds = { deadlineMs, ...(signal !== undefined && { signal }), ...options };
      const done = await engine.run(operation, params, pngs, bounds);
      spent.wallMs += done.ms;
      spent.cpuMs += done.cpuMs;
      return done;
    },
  };
}

async function outcomeOf(work: Promise<Outcome>): Promise<Outcome> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof DeclinedError) return declined(error.type, error.message);
    throw error;
  }
}
