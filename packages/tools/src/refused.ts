/** The outcome of a call that could not be made: the model's fault, not the tool's. */
import type { Outcome } from '@saccade/sandbox';

/**
 * The problem with a call; stable words that the model gets to see and that metrics count.
 *
 * - `UnknownTool` there is no tool of that name;
 * - `MissingArgument` one that is needed is not there;
 * - `UnknownArgument` one is there that the tool does not have;
 * - `BadArgument` one has a wrong type, or a value out of range.
 */
export type RefusalType = 'UnknownTool' | 'MissingArgument' | 'UnknownArgument' | 'BadArgument';

/**
 * The outcome of a call that was refused before anything ran: `kind` is `exception`, and the model
 * reads `type: message`. The times are 0 and the tier is `none`, since no sandbox was involved.
 */
export function refused(type: RefusalType, message: string): Outcome {
  return {
    kind: 'exception',
    stdout: '',
    stderr: '',
    images: [],
    error: { type, message, traceback: `${type}: ${message}` },
    truncated: [],
    wallMs: 0,
    cpuMs: 0,
    maxRssKb: 0,
    tier: 'none',
  };
}
