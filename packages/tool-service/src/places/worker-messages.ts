/** Messages between a service and the processes of its tools. */
import type { GivenArguments, ToolImage } from '@saccade/tools';
import { z } from 'zod';
import type { CallFaultKind } from '../faults.ts';
import type { NamedTool } from './load-choices.ts';

/** A call as it is sent. */
interface SentCall {
  readonly given: GivenArguments;
  readonly images: readonly ToolImage[];
}

/** A process's request to its service: the interpreter of the sandbox, or the sandbox itself. */
export type Question = 'python' | 'sandbox';

/** A message to a process. */
export type Order =
  | {
      readonly kind: 'open';
      readonly modules: readonly string[];
      readonly tools: readonly NamedTool[];
      readonly maxPixels: number;
      readonly warmUpSeconds: number;
    }
  | {
      readonly kind: 'run';
      readonly id: number;
      readonly tool: string;
      readonly calls: readonly SentCall[];
    }
  | { readonly kind: 'abort'; readonly id: number; readonly index: number }
  | {
      readonly kind: 'answer';
      readonly to: Question;
      readonly value?: unknown;
      readonly problem?: string;
    }
  | { readonly kind: 'ping' }
  | { readonly kind: 'close' };

const index = z.int().min(0);

/** A process runs other people's code, which may write to the channel, too: only this is read. */
export const reportSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('opened'), tools: z.array(z.looseObject({ name: z.string() })) }),
  z.object({ kind: z.literal('warm') }),
  z.object({ kind: z.literal('refused'), code: z.string(), message: z.string() }),
  z.object({
    kind: z.literal('settled'),
    id: index,
    index,
    outcome: z.unknown().optional(),
    fault: z.string().optional(),
    message: z.string().optional(),
  }),
  z.object({ kind: z.literal('ended'), id: index }),
  z.object({ kind: z.literal('ask'), what: z.enum(['python', 'sandbox']) }),
  z.object({ kind: z.literal('pong') }),
  z.object({ kind: z.literal('warning'), message: z.string() }),
]);

/** A message from a process. */
export type Report =
  | { readonly kind: 'opened'; readonly tools: readonly unknown[] }
  | { readonly kind: 'warm' }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | {
      readonly kind: 'settled';
      readonly id: number;
      readonly index: number;
      readonly outcome?: unknown;
      readonly fault?: CallFaultKind;
      readonly message?: string;
    }
  | { readonly kind: 'ended'; readonly id: number }
  | { readonly kind: 'ask'; readonly what: Question }
  | { readonly kind: 'pong' }
  | { readonly kind: 'warning'; readonly message: string };
