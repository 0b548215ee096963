/** Asks a judge for the kind of error that no rule can tell. */
import { type Ask, type ErrorInput, type JudgedCall, RewardError } from '@saccade/rewards';
import { isToolUse, type ScoredTrajectory, type Turn } from '@saccade/trajectory';
import type { ErrorKind, ErrorTag } from './error-taxonomy.ts';

/** The question and the reference of a task, for a judge. */
export interface JudgedTask {
  readonly question: string;
  readonly answer: string;
}

/** The tag that a judge gave, or why there is none. */
export interface JudgedError {
  readonly tag?: ErrorTag;
  /** Why the judge failed; absent where it answered, also where it could not tell. */
  readonly failure?: string;
}

const kindOf: Readonly<Record<number, ErrorKind>> = { 4: 'E4', 5: 'E5', 6: 'E6' };

/**
 * Asks what went wrong first in a trajectory that `isUndecided`. Calls are shown with what came back as
 * text, and the trajectory's images with them; where they are not loaded, the judge sees text alone.
 *
 * The judge names no turn: E4 and E5 are put at the last use of a tool, E6 at the answer. A judge that
 * fails, or replies with no grade, leaves the trajectory undecided.
 */
export async function judgeError(
  trajectory: ScoredTrajectory,
  { question, answer: expected }: JudgedTask,
  ask: Ask<ErrorInput>,
): Promise<JudgedError> {
  const { turns, segments, answer = '' } = trajectory;
  const images = segments.flatMap((segment) => segment.images.map(({ png }) => png));
  const thought = segments.filter(({ kind }) => kind === 'model').at(-1)?.text ?? '';
  const calls = turns.flatMap(judgedCall);
  const shown = images.filter(({ byteLength }) => byteLength > 0);
  try {
    const grade = await ask({ question, expected, answer, thought, calls, images: shown });
    const kind = kindOf[grade];
    if (kind === undefined) return {};
    const lastUse = turns.findLastIndex(({ action }) => isToolUse(action));
    const turn = kind === 'E6' ? turns.length - 1 : lastUse;
    return { tag: { kind, turn, reason: 'the judge says so' } };
  } catch (error) {
    if (error instanceof RewardError) return { failure: error.message };
    throw error;
  }
}

function judgedCall({ action, result }: Turn): readonly JudgedCall[] {
  if (!isToolUse(action)) return [];
  const call =
    action.kind === 'code' ? action.code : `${action.name} ${JSON.stringify(action.arguments)}`;
  return [{ call, result: result === undefined ? '' : resultText(result) }];
}

/** The text that a tool gave, as a judge and a person read it. */
export function resultText(result: NonNullable<Turn['result']>): string {
  const { kind, stdout, stderr, errorType = kind, errorMessage = '', imageCount } = result;
  const said = [stdout.trim(), stderr.trim()].filter((text) => text !== '');
  if (kind !== 'ok') said.push(errorMessage === '' ? errorType : `${errorType}: ${errorMessage}`);
  if (imageCount > 0) said.push(`(${imageCount} ${imageCount === 1 ? 'image' : 'images'})`);
  return said.join('\n') || '(nothing)';
}
