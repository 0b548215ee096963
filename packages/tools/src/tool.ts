/** A typed tool: a name, a schema of its arguments, and what it does with the images it is given. */
import { readSettings, type SettingsOf, type SettingsSchema } from '@saccade/core/settings';
import type { Outcome, Sandbox } from '@saccade/sandbox';
import type { AffineMap } from '@saccade/trajectory';
import { z } from 'zod';
import { argumentProblem } from './argument-problem.ts';
import { ToolError } from './errors.ts';
import { refused } from './refused.ts';

/** An image of the trajectory that a tool may work on. */
export interface ToolImage {
  readonly name: string;
  /** PNG bytes at original resolution. */
  readonly png: Uint8Array;
  readonly width: number;
  readonly height: number;
  /** Where its pixels come from: an earlier image and the map into its frame. */
  readonly origin?: { readonly image: string; readonly map: AffineMap };
}

/** The context of a tool's call: the images of the trajectory so far, and a sandbox. */
export interface ToolContext {
  /** The images so far, in order: index 0 is the first of the prompt. */
  readonly images: readonly ToolImage[];
  /** Where tools run what they do to images. */
  readonly sandbox: Pick<Sandbox, 'open'>;
  readonly signal?: AbortSignal;
}

/** Arguments as they come out of a model's JSON. */
export type GivenArguments = Readonly<Record<string, unknown>>;

/** A JSON Schema of an object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One of several calls that a tool answers together. */
export interface ToolBatchCall<Given = GivenArguments> {
  readonly given: Given;
  readonly context: ToolContext;
}

/**
 * A function that the model can call by name with typed arguments. `defineTool` makes one from a
 * zod shape.
 */
export interface Tool {
  /** As the model writes it. */
  readonly name: string;
  /** The purpose of the tool, for the prompt. */
  readonly description: string;
  /** Schema of the arguments, for the prompt and for services. */
  readonly parameters: JsonSchema;
  /** Arguments that fit, for prompts and checks. */
  readonly example: GivenArguments;
  /** The settings that a person can change: meaning, unit, range, default. Absent: none. */
  readonly settings?: SettingsSchema;
  /** The tool at other settings. @throws ConfigError naming what is wrong; absent without settings */
  with?(settings: Readonly<Record<string, unknown>>): Tool;
  /**
   * Checks the arguments and does the work. What is wrong with them is an outcome like any other:
   * `exception`, with `MissingArgument`, `UnknownArgument` or `BadArgument` as the error's type.
   *
   * @throws SandboxError, and nothing else, if the infrastructure fails
   */
  call(given: GivenArguments, context: ToolContext): Promise<Outcome>;
  /** Another version may answer the same call otherwise, e.g. with other weights. Default: none. */
  readonly version?: string;
  /** The same call gives the same outcome, so that a service may remember it. Default false. */
  readonly isDeterministic?: boolean;
  /**
   * Answers several calls in one piece of work, for tools to which that is cheaper, such as a network
   * on a GPU. Absent where calls are best made one by one.
   *
   * @returns as many outcomes, in the order of the calls
   * @throws as `call` does, for all of them together
   */
  callBatch?(calls: readonly ToolBatchCall[]): Promise<readonly Outcome[]>;
}

type NoSettings = z.ZodObject<Record<never, never>, z.core.$strict>;

/** The arguments of a shape after they are checked. */
type ArgumentsOf<Shape extends z.ZodRawShape> = z.infer<z.ZodObject<Shape, z.core.$strict>>;

/** The argument of `defineTool`: `parameters` is a zod shape, and `run` gets values that fit it. */
export interface ToolDefinition<
  Shape extends z.ZodRawShape,
  Schema extends SettingsSchema = NoSettings,
> extends Pick<Tool, 'name' | 'description' | 'example' | 'version' | 'isDeterministic'> {
  readonly settings?: Schema;
  /** Every argument; others are refused. */
  readonly parameters: Shape | ((settings: SettingsOf<Schema>) => Shape);
  run(
    given: ArgumentsOf<Shape>,
    context: ToolContext,
    settings: SettingsOf<Schema>,
  ): Promise<Outcome>;
  /** Several calls together, as `Tool.callBatch`; only those whose arguments fit. */
  runBatch?(
    calls: readonly ToolBatchCall<ArgumentsOf<Shape>>[],
    settings: SettingsOf<Schema>,
  ): Promise<readonly Outcome[]>;
}

/** A tool whose arguments are checked before it runs. */
export function defineTool<Shape extends z.ZodRawShape, Schema extends SettingsSchema = NoSettings>(
  definition: ToolDefinition<Shape, Schema>,
): Tool {
  return configure(definition, {});
}

/** The JSON Schema of the arguments. */
function parametersOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  return parameters;
}

function configure<Shape extends z.ZodRawShape, Schema extends SettingsSchema>(
  definition: ToolDefinition<Shape, Schema>,
  values: Readonly<Record<string, unknown>>,
): Tool {
  const { name, description, example, version, isDeterministic, settings: own } = definition;
  const settings = (own === undefined ? {} : readSettings(name, own, values)) as SettingsOf<Schema>;
  const shape = definition.parameters;
  const schema = z.strictObject(typeof shape === 'function' ? shape(settings) : shape);
  let parameters: JsonSchema | undefined;
  /** The arguments, or the outcome of a call that could not be made. */
  const check = (
    given: GivenArguments,
  ): { readonly given: ArgumentsOf<Shape> } | { readonly refusal: Outcome } => {
    const checked = schema.safeParse(given);
    if (checked.success) return { given: checked.data };
    const { type, message } = argumentProblem(checked.error, given);
    return { refusal: refused(type, message) };
  };
  return {
    ...{ name, description, example },
    // Made where someone reads it: most tools of a catalog are shown to nobody.
    get parameters() {
      parameters ??= parametersOf(schema);
      return parameters;
    },
    ...(version !== undefined && { version }),
    ...(isDeterministic !== undefined && { isDeterministic }),
    ...(own && {
      settings: own,
      with: (changes: Readonly<Record<string, unknown>>) => configure(definition, changes),
    }),
    async call(given, context) {
      const checked = check(given);
      if ('refusal' in checked) return checked.refusal;
      return await definition.run(checked.given, context, settings);
    },
    ...(definition.runBatch && {
      async callBatch(calls: readonly ToolBatchCall[]) {
        const checked = calls.map(({ given, context }) => ({ ...check(given), context }));
        const fitting = checked.filter((call) => 'given' in call);
        const outcomes =
          fitting.length === 0 ? [] : ((await definition.runBatch?.(fitting, settings)) ?? []);
        let next = 0;
        return checked.map((call) => {
          if ('refusal' in call) return call.refusal;
          const outcome = outcomes[next++];
          if (outcome !== undefined) return outcome;
          throw new ToolError(
            `${name} answered ${outcomes.length} of ${fitting.length} calls. runBatch must give an ` +
              'outcome for each.',
          );
        });
      },
    }),
  };
}
