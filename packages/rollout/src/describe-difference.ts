/** A difference between two trajectories in words, with what stands before it. */
import type { Processor } from '@saccade/policy';
import type { Trajectory } from '@saccade/trajectory';
import type { Difference } from './compare-trajectories.ts';

/** Tokens of context that a sentence quotes. */
const QUOTED_TOKENS = 12;
/** Characters of an action or a result that a sentence quotes. */
const QUOTED_CHARACTERS = 120;

/** One sentence: where it is, what is recorded there, and what came instead. */
export function describeDifference(
  difference: Difference,
  recorded: Trajectory,
  processor: Pick<Processor, 'decode'>,
): string {
  const { kind, segment: index, token = 0 } = difference;
  const place = index === undefined ? 'at its end' : placeOf(recorded, index);
  if (kind === 'token') {
    const before = quoteBefore(recorded, index ?? 0, token, processor);
    return (
      `${place}, token ${token + 1} (position ${difference.position}): recorded ` +
      `${describeToken(difference.recorded, difference.recordedLogprob, processor)}, replayed ` +
      `${describeToken(difference.replayed, difference.replayedLogprob, processor)}${before}.`
    );
  }
  if (kind === 'logprob') {
    const { recordedLogprob = Number.NaN, replayedLogprob = Number.NaN } = difference;
    const apart = Math.abs(recordedLogprob - replayedLogprob).toExponential(2);
    const tokenId = recorded.segments[index ?? 0]?.tokens[token];
    const text = describeToken(String(tokenId ?? ''), undefined, processor);
    return (
      `${place}, token ${token + 1} (position ${difference.position}), ${text}: recorded log-prob ` +
      `${recordedLogprob}, replayed ${replayedLogprob}, ${apart} apart.`
    );
  }
  const what = { image: 'image', action: 'action', result: 'tool result', end: 'end' };
  const name = kind === 'version' ? 'version of the weights' : what[kind];
  return `${place}, ${name}: recorded ${quote(difference.recorded)}, replayed ${quote(difference.replayed)}.`;
}

function placeOf({ segments }: Trajectory, index: number): string {
  const kind = segments[index]?.kind ?? (index % 2 === 1 ? 'model' : 'observation');
  if (kind === 'prompt') return 'prompt';
  return kind === 'model' ? `turn ${(index + 1) / 2}` : `observation after turn ${index / 2}`;
}

function describeToken(
  id: string,
  logprob: number | undefined,
  processor: Pick<Processor, 'decode'>,
): string {
  if (id === '') return 'nothing';
  const text = JSON.stringify(processor.decode(Int32Array.of(Number(id))));
  return `${id} ${text}${logprob === undefined ? '' : ` (log-prob ${logprob})`}`;
}

function quoteBefore(
  { segments }: Trajectory,
  index: number,
  token: number,
  processor: Pick<Processor, 'decode'>,
): string {
  const own = segments[index]?.tokens.subarray(0, token) ?? new Int32Array(0);
  const last = own.length > 0 ? own : (segments[index - 1]?.tokens ?? own);
  const tokens = last.subarray(Math.max(0, last.length - QUOTED_TOKENS));
  return tokens.length === 0 ? '' : `, after ${JSON.stringify(processor.decode(tokens))}`;
}

function quote(text: string): string {
  if (text === '') return 'nothing';
  return text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text;
}
