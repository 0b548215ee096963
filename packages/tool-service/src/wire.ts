/** Messages between a tool service and its clients: zod schemas of every body of `/v1`. */
import { createHash } from 'node:crypto';
import { outcomeSchema } from '@saccade/sandbox';
import type { JsonSchema, Tool } from '@saccade/tools';
import { z } from 'zod';
import { canonicalJson } from './canonical-json.ts';

/** Version of the bodies below; a client refuses a service that speaks another. */
export const WIRE_VERSION = 1;

/** Calls of one batch, and images of one call, at most. */
export const MOST_CALLS = 256;
const MOST_IMAGES = 256;

const jsonObject = z.record(z.string(), z.unknown());

/** A tool as `GET /v1/tools` lists it. */
export const describedToolSchema = z.object({
  name: z
    .string()
    .max(100)
    .regex(/^[A-Za-z][A-Za-z0-9_.-]*$/)
    .meta({ description: 'As the model writes it.' }),
  description: z.string().max(16_000),
  version: z.string().max(100).meta({ description: 'Another version may answer otherwise.' }),
  isDeterministic: z.boolean().meta({ description: 'The same call gives the same outcome.' }),
  takesBatches: z.boolean().meta({ description: 'Several calls at a time cost it less.' }),
  parameters: jsonObject.meta({ description: 'JSON Schema of the arguments.' }),
  example: jsonObject.meta({ description: 'Arguments that fit.' }),
});

/** The answer of `GET /v1/tools`. */
export const toolListSchema = z.object({
  wire: z.int().meta({ description: 'Version of these bodies.' }),
  tools: z.array(describedToolSchema),
});

const imageSchema = z.strictObject({
  name: z.string().min(1).max(200),
  png: z.string().meta({ description: 'PNG at its original size, in base64.' }),
  origin: z
    .strictObject({
      image: z.string().min(1).max(200),
      map: z.tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.number()]),
    })
    .optional()
    .meta({
      description:
        'An earlier image and the map into its frame: x = a·x + b·y + c, y = d·x + e·y + f.',
    }),
});

/** The body of `POST /v1/tools/{name}`. */
export const callRequestSchema = z.strictObject({
  arguments: jsonObject,
  images: z
    .array(imageSchema)
    .max(MOST_IMAGES)
    .default([])
    .meta({ description: 'The images so far; index 0 is the first of the prompt.' }),
  deadlineMs: z
    .number()
    .positive()
    .max(86_400_000)
    .optional()
    .meta({ description: 'The call is given up after this many milliseconds.' }),
  version: z
    .string()
    .max(100)
    .optional()
    .meta({ description: 'The version of the tool that is meant; another one is refused.' }),
});

/** The answer of `POST /v1/tools/{name}`. */
export const callAnswerSchema = z.object({
  outcome: outcomeSchema,
  isCached: z.boolean().meta({ description: 'The answer was remembered from an equal call.' }),
});

/** The body of `POST /v1/batch`. */
export const batchRequestSchema = z.strictObject({
  calls: z
    .array(z.strictObject({ tool: z.string().min(1).max(100), ...callRequestSchema.shape }))
    .min(1)
    .max(MOST_CALLS),
});

/** Why a request or one call of a batch was not answered. */
export const refusalSchema = z.object({
  error: z.object({
    code: z.string().meta({ description: 'Stable, for programs.' }),
    fact: z.string(),
    remedy: z.string(),
  }),
});

/** The answer of `POST /v1/batch`: one for each call, in their order. */
export const batchAnswerSchema = z.object({
  answers: z.array(
    z.union([
      callAnswerSchema.extend({ status: z.literal(200) }),
      refusalSchema.extend({ status: z.int() }),
    ]),
  ),
});

export type DescribedTool = z.output<typeof describedToolSchema>;
export type CallRequest = z.output<typeof callRequestSchema>;
export type BatchAnswer = z.output<typeof batchAnswerSchema>['answers'][number];

/** A tool as the service lists it. */
export function describeTool(tool: Tool): DescribedTool {
  const { name, description, parameters, example, isDeterministic = false } = tool;
  return {
    ...{ name, description, isDeterministic, takesBatches: tool.callBatch !== undefined },
    version: versionOf(tool),
    parameters: { ...parameters },
    example: { ...example },
  };
}

/** The version that a tool says it has; for one that says none, a digest of its schema. */
export function versionOf({ version, parameters }: Pick<Tool, 'version' | 'parameters'>): string {
  return version ?? `schema-${digestOf(parameters)}`;
}

function digestOf(schema: JsonSchema): string {
  return createHash('sha256').update(canonicalJson(schema)).digest('hex').slice(0, 12);
}
