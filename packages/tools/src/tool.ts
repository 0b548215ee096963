/** A typed tool: a name, a schema of its arguments, and what it does with the images it is given. */
import { readSettings, type SettingsOf, type SettingsSchema } from '@saccade/core/settings';
import type { Outcome, Sandbox } from '@saccade/sandbox';
import type { AffineMap } from '@saccade/trajectory';
import { z } from 'zod';
import { argumentProblem } from './argument-problem.ts';
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

/** What a tool works on: the images of the trajectory so far, and a sandbox. */
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

/**
 * A function that the model can call by name with typed arguments. `defineTool` makes one from a
 * zod shape.
 */
export interface Tool {
  /** As the model writes it. */
  readonly name: string;
  /** What it does, for the prompt. */
  readonly description: string;
  /** Schema of the arguments, for the prompt and for services. */
  readonly parameters: JsonSchema;
  /** Arguments that fit, for prompts and checks. */
  readonly example: GivenArguments;
  /** What a person can set: meaning, unit, range, default. Absent: nothing. */
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
}

type NoSettings = z.ZodObject<Record<never, never>, z.core.$strict>;

/** The argument of `defineTool`: `parameters` is a zod shape, and `run` gets values that fit it. */
export interface ToolDefinition<
  Shape extends z.ZodRawShape,
  Schema extends SettingsSchema = NoSettings,
> {
  readonly name: string;
  readonly description: string;
  readonly settings?: Schema;
  /** Every argument; others are refused. */
  readonly parameters: Shape | ((settings: SettingsOf<Schema>) => Shape);
  readonly example: GivenArguments;
  run(
    given: z.infer<z.ZodObject<Shape, z.core.$strict>>,
    context: ToolContext,
    settings: SettingsOf<Schema>,
  ): Promise<Outcome>;
}

/** A tool whose arguments are checked before it runs. */
export function defineTool<Shape extends z.ZodRawShape, Schema extends SettingsSchema = NoSettings>(
  definition: ToolDefinition<Shape, Schema>,
): Tool {
  return configure(definition, {});
}

function configure<Shape extends z.ZodRawShape, Schema extends SettingsSchema>(
  definition: ToolDefinition<Shape, Schema>,
  values: Readonly<Record<string, unknown>>,
): Tool {
  const { name, description, example, settings: own } = definition;
  const settings = (own === undefined ? {} : readSettings(name, own, values)) as SettingsOf<Schema>;
  const shape = definition.parameters;
  const schema = z.strictObject(typeof shape === 'function' ? shape(settings) : shape);
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  return {
    name,
    description,
    parameters,
    example,
    ...(own && {
      settings: own,
      with: (changes: Readonly<Record<string, unknown>>) => configure(definition, changes),
    }),
    async call(given, context) {
      const checked = schema.safeParse(given);
      if (checked.success) return await definition.run(checked.data, context, settings);
      const { type, message } = argumentProblem(checked.error, given);
      return refused(type, message);
    },
  };
}
