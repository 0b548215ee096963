/** How calls without an outcome, and requests that cannot be served, are answered. */
import { ConfigError, DataError, messageOf } from '@saccade/core';
import { Refusal, type RefusalOptions, type RefusalWording } from '@saccade/http/service';
import { OversizedImage } from '@saccade/tools';
import type { ToolCalls } from '../calls/tool-calls.ts';
import { CallFault, type CallFaultKind } from '../faults.ts';

type Answer = Pick<RefusalOptions, 'status' | 'remedy' | 'retryAfterSeconds'>;

const answers: Readonly<Record<CallFaultKind, Answer>> = {
  full: { status: 429, remedy: 'Try again later.', retryAfterSeconds: 1 },
  unavailable: { status: 503, remedy: 'Try again later.', retryAfterSeconds: 2 },
  deadline: { status: 504, remedy: 'Allow the call more time, or ask for less.' },
  failed: { status: 500, remedy: 'Try again; the log of the service says more.' },
  garbled: { status: 500, remedy: 'This is a fault of the tool.' },
  crashed: { status: 500, remedy: 'This is a fault of the tool, or its memory is too small.' },
  left: { status: 503, remedy: 'Ask again if it is still wanted.' },
  stopped: { status: 503, remedy: 'Ask another service, or this one after its start.' },
};

/** `detail` is where clients of verl-tool look. */
export const toolWording: RefusalWording = ({ code, fact, remedy }) => ({
  error: { code, fact, remedy },
  detail: `${fact} ${remedy}`,
});

/** The refusal that an error is; undefined for faults of the service. */
export function asRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  const fact = sentence(messageOf(error));
  if (error instanceof CallFault) {
    return new Refusal({ ...answers[error.kind], code: error.code, fact });
  }
  if (error instanceof OversizedImage) {
    return new Refusal({ status: 413, code: 'too-many-pixels', ...factAndRemedy(fact) });
  }
  if (error instanceof DataError || error instanceof ConfigError) {
    return new Refusal({ status: 400, code: error.code, ...factAndRemedy(fact) });
  }
  return undefined;
}

/** Messages of errors end with their remedy, a sentence of its own. */
function factAndRemedy(message: string): Pick<RefusalOptions, 'fact' | 'remedy'> {
  const end = message.lastIndexOf('. ');
  if (end < 0) return { fact: message, remedy: 'Send something else.' };
  return { fact: message.slice(0, end + 1), remedy: message.slice(end + 2) };
}

/** With a full stop, also where other people's code has thrown without one. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Refuses a tool that there is not, and another version than is meant. */
export function refuseUnlessServed(calls: ToolCalls, name: string, version?: string): void {
  const tool = calls.find(name);
  if (tool === undefined) {
    const near = calls.nearest(name);
    const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
    throw new Refusal({
      status: 404,
      code: 'unknown-tool',
      fact: `There is no tool ${JSON.stringify(name.slice(0, 100))} here.${hint}`,
      remedy: `Use one of: ${calls.tools.map((known) => known.name).join(', ')}.`,
    });
  }
  if (version === undefined || version === tool.version) return;
  throw new Refusal({
    status: 409,
    code: 'tool-version',
    fact: `${name} is version ${tool.version} here, and version ${version} was asked for.`,
    remedy: 'Read GET /v1/tools again, or ask a service with that version.',
  });
}
