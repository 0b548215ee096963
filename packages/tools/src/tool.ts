/** A typed tool: a name, a schema of its arguments, and what it does with the images it is given. */
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
  /**
   * Checks the arguments and does the work. What is wrong with them is an outcome like any other:
   * `exception`, with `MissingArgument`, `UnknownArgument` or `BadArgument` as the error's type.
   *
   * @throws SandboxError, and nothing else, if the infrastructure fails
   */
  call(given: GivenArguments, context: ToolContext): Promise<Outcome>;
}

/** The argument of `defineTool`: `parameters` is a zod shape, and `run` gets values that fit it. */
export interface ToolDefinition<Shape extends z.ZodRawShape> {
  readonly name: string;
  readonly description: string;
  /** Every argument; others are refused. */
  readonly parameters: Shape;
  readonly example: GivenArguments;
  run(given: z.infer<z.ZodObject<Shape, z.core.$strict>>, context: ToolContext): Promise<Outcome>;
}

/** A tool whose arguments are checked before it runs. */
export function defineTool<Shape extends z.ZodRawShape>(definition: ToolDefinition<Shape>): Tool {
  const { name, description, example } = definition;
  const schema = z.strictObject(definition.parameters);
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  return {
    name,
    description,
    parameters,
    example,
    async call(given, context) {
      const checked = schema.safeParse(given);
      if (checked.success) return await definition.run(checked.data, context);
      const { type, message } = argumentProblem(checked.error, given);
      return refused(type, message);
    },
  };
}
