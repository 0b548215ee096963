/** A fork server's own messages: never a session's words, except for those that name its end. */
import { z } from 'zod';
import type { End } from './result.ts';
import { decodeHeader, type Frame } from './wire.ts';

export type ServerMessage =
  | ({ readonly type: 'ended'; readonly session: number } & End)
  /** The kernel ended a process of the session for its memory. */
  | { readonly type: 'memory'; readonly session: number }
  /** There is no process for the session. */
  | { readonly type: 'refused'; readonly session: number; readonly message: string }
  | { readonly type: 'pong' };

const session = z.number();
const message: z.ZodType<ServerMessage> = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('ended'),
    session,
    cause: z.string(),
    reason: z.string(),
    signal: z.number(),
    exitCode: z.number(),
    cpuMs: z.number(),
    maxRssKb: z.number(),
  }),
  z.object({ type: z.literal('memory'), session }),
  z.object({ type: z.literal('refused'), session, message: z.string() }),
  z.object({ type: z.literal('pong') }),
]);

/** The message in a frame of session 0; undefined for one that this version does not know. */
export function readServerMessage(frame: Frame): ServerMessage | undefined {
  return message.safeParse(decodeHeader(frame)).data;
}
