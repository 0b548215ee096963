/** The wire format: OpenEnv's forms, with our action and observation in them. */
import type { MessagePart } from '@saccade/gym';
import { stopReasons, toolResultKinds } from '@saccade/trajectory';
import { z } from 'zod';

/** Longest text of one turn, characters. */
const LONGEST_TURN = 2 ** 20;

/** The text that a model wrote in one turn. As in OpenEnv, unknown fields are refused. */
export const actionSchema = z.strictObject({
  text: z
    .string()
    .max(LONGEST_TURN)
    .describe('What the model wrote in this turn, stop string included.'),
  token_count: z
    .int()
    .min(1)
    .max(LONGEST_TURN)
    .optional()
    .describe('Tokens of the text; needed where a reward counts them.'),
  metadata: z.record(z.string(), z.unknown()).optional().describe('Passed over.'),
});

export type WireAction = z.output<typeof actionSchema>;

/** The options for resetting an environment. As in OpenEnv, other fields are ignored. */
export const resetSchema = z.looseObject({
  seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullish().describe('Chooses the task.'),
  episode_id: z.string().max(255).nullish().describe('A name of the client’s own.'),
  split: z.enum(['train', 'heldOut']).nullish(),
});

export type WireReset = z.output<typeof resetSchema>;

const textPart = z.object({ type: z.literal('text'), text: z.string() });
const imagePart = z.object({
  type: z.literal('image'),
  name: z.string(),
  mime_type: z.literal('image/png'),
  data: z.string().describe('base64'),
  width: z.int(),
  height: z.int(),
  origin: z
    .object({ image: z.string(), map: z.array(z.number()).length(6) })
    .optional()
    .describe('The earlier image that its pixels come from, and the affine map into its frame.'),
});

const resultSchema = z.object({
  kind: z.enum(toolResultKinds),
  stdout: z.string(),
  stderr: z.string(),
  error_type: z.string().optional(),
  error_message: z.string().optional(),
  image_count: z.int(),
});

export const observationSchema = z.object({
  session_id: z.string().describe('Of this environment; send it with every step.'),
  episode_id: z.string(),
  task_id: z.string(),
  messages: z.array(
    z.object({
      role: z.enum(['system', 'user']),
      content: z.array(z.discriminatedUnion('type', [textPart, imagePart])),
    }),
  ),
  stop: z.array(z.string()).describe('Where the model’s next turn has to stop.'),
  action: z.record(z.string(), z.unknown()).nullable().describe('What was read from the turn.'),
  result: resultSchema.nullable().describe('What the tool or the code gave.'),
  stop_reason: z.enum(stopReasons).nullable().describe('Why the episode is over.'),
  reward_terms: z.record(z.string(), z.number()).nullable(),
  turn_rewards: z.array(z.number()).nullable(),
  is_correct: z.boolean().nullable(),
});

export type WireObservation = z.output<typeof observationSchema>;

export const stateSchema = z.object({
  episode_id: z.string().nullable(),
  step_count: z.int(),
  task_id: z.string().nullable(),
  done: z.boolean(),
});

export type WireState = z.output<typeof stateSchema>;

/** The answer of `/reset` and `/step`. */
export interface WireAnswer {
  readonly observation: WireObservation;
  readonly reward: number | null;
  readonly done: boolean;
}

/** The parts of a message as JSON. */
export function writeParts(
  parts: readonly MessagePart[],
): WireObservation['messages'][number]['content'] {
  return parts.map((part) => {
    if (part.kind === 'text') return { type: 'text', text: part.text };
    const { name, png, width, height, origin } = part;
    return {
      ...{ type: 'image', name, mime_type: 'image/png' },
      ...{ data: Buffer.from(png).toString('base64'), width, height },
      ...(origin !== undefined && { origin: { image: origin.image, map: [...origin.map] } }),
    } as const;
  });
}
