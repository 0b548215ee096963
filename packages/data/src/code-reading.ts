/** Readings of what a code tool says: its text in the context, and the number in it as the answer. */
import { type EventSink, randomAt } from '@saccade/core';
import {
  type Box,
  codeQuestion,
  drawCodeNumber,
  type MessagePart,
  type Protocol,
  type Task,
} from '@saccade/gym';
import type { Outcome } from '@saccade/sandbox';
import type { Trajectory } from '@saccade/trajectory';
import { inChunks } from './in-chunks.ts';
import { answeredAtOnce, type OneTurnOptions } from './one-turn.ts';

/** Options of `codeReadings`. Example `i` depends on `seed` and `i` alone. */
export interface CodeReadingOptions extends OneTurnOptions {
  readonly seed: number;
  readonly count: number;
  readonly onEvent?: EventSink;
}

/** The far side of a table, and the side of a code in it; pixels. */
const [FAR, SIDE] = [360, 62];

/** What `read_code` says of one QR code. */
export function codeText(number: string, box: Box): string {
  return `Code Reading Result:\nQR code: ${number} [${box.join(', ')}]`;
}

/** The result of a call that says something and shows nothing. */
export function said(stdout: string): Outcome {
  return {
    kind: 'ok',
    stdout,
    stderr: '',
    images: [],
    truncated: [],
    wallMs: 0,
    cpuMs: 0,
    maxRssKb: 0,
    tier: 'none',
  };
}

/** The texts of an observation, one after another. */
function observationText(protocol: Pick<Protocol, 'observe'>, outcome: Outcome): string {
  const parts: readonly MessagePart[] = protocol.observe(outcome, { imageIndex: 1, callsLeft: 1 });
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

/** One-turn trajectories: the question, the tool's text right after it, and the number. */
export function codeReadings(options: CodeReadingOptions): Promise<Trajectory[]> {
  return inChunks('code readings', options, (index) => codeReading(options, index));
}

async function codeReading(options: CodeReadingOptions, index: number): Promise<Trajectory> {
  const random = randomAt(options.seed, 'code-reading', index);
  const answer = String(drawCodeNumber('train', random));
  const [left, top] = [random.integer(FAR), random.integer(FAR)];
  const text = codeText(answer, [left, top, left + SIDE, top + SIDE]);
  const task: Task = {
    id: `code-reading-${String(index).padStart(6, '0')}`,
    question: `${codeQuestion}\n${observationText(options.protocol, said(text))}`,
    images: [],
    answer,
    metadata: {},
  };
  return await answeredAtOnce(task, options);
}
