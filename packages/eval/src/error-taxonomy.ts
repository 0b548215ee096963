/**
 * Six kinds of errors in the use of tools, decided by rule where a rule can decide: VISTA
 * (arXiv:2511.19773, Table 1 and Appendix G.1).
 */
import type { Box } from '@saccade/code-effects';
import { type RewardContext, type ToolRecord, toolRecord } from '@saccade/rewards';
import { isToolUse, type ScoredTrajectory, type Turn } from '@saccade/trajectory';
import type { EvaluationSettings } from './evaluation-settings.ts';

/** The paper's names, in its order. A trajectory may have several. */
export const errorKinds = ['E1', 'E2', 'E3', 'E4', 'E5', 'E6'] as const;

/** One of the six kinds. */
export type ErrorKind = (typeof errorKinds)[number];

/** One sentence for each kind, for tables and legends. */
export const errorMeanings: Readonly<Record<ErrorKind, string>> = {
  E1: 'The call breaks the schema: it cannot be read, names no tool, or lacks an argument.',
  E2: 'An argument has a name that the tool does not know.',
  E3: 'An argument has a value of the wrong type, format or range.',
  E4: 'The call is valid and wrong: another tool or region, a turn that is not called for.',
  E5: 'The tool ran and gave nothing that can be used.',
  E6: 'A tool gave what the answer needs, and the answer is wrong.',
};

/** An error and where it was made. */
export interface ErrorTag {
  readonly kind: ErrorKind;
  /** Index of the turn; that of the answer for E6. */
  readonly turn: number;
  /** The deciding fact: `MissingArgument`, `crop misses the box`. */
  readonly reason: string;
}

/** How rules read what code and tools did. */
export type TaggingOptions = Pick<EvaluationSettings, 'shownShare'>;

/** Error kinds by reason of refusal. An unknown argument name is E2, even beside a missing one. */
const refusals: Readonly<Record<string, ErrorKind>> = {
  UnknownTool: 'E1',
  MissingArgument: 'E1',
  UnknownArgument: 'E2',
  BadArgument: 'E3',
};

/** How Python says that code is not code; for programs this is what a broken schema is for calls. */
const syntaxErrors: ReadonlySet<string> = new Set(['SyntaxError', 'IndentationError', 'TabError']);

/**
 * The errors of a trajectory that rules can tell, in the order of its turns.
 *
 * - Refused calls give E1, E2 or E3 by what they were refused for. Code stands for a call: syntax errors
 *   are E1, calls with unknown keywords E2, and other exceptions E3.
 * - E4 needs the task's truth: a call of a tool that is none of `helpfulTools`, a crop that covers less
 *   than `shownShare` of the task's box, or a turn or flip where `requiredTools` has none. A crop on the
 *   way to one that shows the box is no error, and one by a wrong tool shows nothing.
 * - A typed tool that fails by itself, or gives neither text nor an image, is E5.
 * - E6 is a wrong answer after a tool gave what it needs: a crop that shows the box, or text that has the
 *   right answer as a word of its own.
 *
 * Errors that only a reader of the reasoning could tell have no tag here; see `undecided`.
 */
export function tagErrors(
  trajectory: ScoredTrajectory,
  context: RewardContext,
  options: TaggingOptions,
): readonly ErrorTag[] {
  const record = toolRecord(trajectory, context);
  const wrongTools = wrongToolErrors(trajectory, record);
  const wrongTurns = new Set(wrongTools.map(({ turn }) => turn));
  const shown = turnsThatShow(record, context, options);
  for (const turn of wrongTurns) shown.delete(turn);
  const says = ({ result }: Turn, turn: number): boolean =>
    result?.kind === 'ok' && !wrongTurns.has(turn) && saysAnswer(result.stdout, context.answer);
  const evidence = trajectory.turns.findIndex((turn, at) => shown.has(at) || says(turn, at));
  const calls = trajectory.turns.flatMap((turn, index) => callErrors(turn, index));
  const contents = contentErrors(record, context, shown).filter(
    ({ turn }) => !wrongTurns.has(turn),
  );
  const isWrong = !trajectory.isCorrect && trajectory.answer !== undefined;
  const last = trajectory.turns.length - 1;
  const reasoning: readonly ErrorTag[] =
    isWrong && evidence >= 0
      ? [{ kind: 'E6', turn: last, reason: `turn ${evidence} shows what the answer needs` }]
      : [];
  return [...calls, ...wrongTools, ...contents, ...reasoning].sort(
    (a, b) => a.turn - b.turn || a.kind.localeCompare(b.kind),
  );
}

/** Whether a trajectory is wrong although it used tools, and no rule says why: a judge has to look. */
export function isUndecided(trajectory: ScoredTrajectory, tags: readonly ErrorTag[]): boolean {
  const usedTools = trajectory.turns.some(({ action }) => isToolUse(action));
  return !trajectory.isCorrect && usedTools && tags.length === 0;
}

/** The errors of a call itself, or of its result. */
function callErrors({ action, result }: Turn, turn: number): readonly ErrorTag[] {
  if (action.kind === 'invalid') {
    return action.reason === 'malformedCall' ? [{ kind: 'E1', turn, reason: action.reason }] : [];
  }
  if (result === undefined) return [];
  const { kind, errorType = kind, errorMessage = '' } = result;
  if (kind === 'ok') {
    const isEmpty = result.stdout.trim() === '' && result.imageCount === 0;
    return isEmpty && action.kind === 'toolCall'
      ? [{ kind: 'E5', turn, reason: 'neither text nor an image' }]
      : [];
  }
  if (action.kind === 'toolCall') {
    return [{ kind: refusals[errorType] ?? 'E5', turn, reason: errorType }];
  }
  if (syntaxErrors.has(errorType)) return [{ kind: 'E1', turn, reason: errorType }];
  const isName = errorType === 'TypeError' && errorMessage.includes('unexpected keyword argument');
  return [{ kind: isName ? 'E2' : 'E3', turn, reason: errorType }];
}

/** Turns whose crops show enough of the task's box. */
function turnsThatShow(
  { facts: { box } }: ToolRecord,
  { toolUses }: RewardContext,
  { shownShare }: TaggingOptions,
): Set<number> {
  if (box === undefined) return new Set();
  const crops = toolUses.flatMap(({ turn, operations }) =>
    operations.flatMap(({ kind, canonicalBox }) =>
      kind === 'crop' && canonicalBox !== undefined ? [{ turn, canonicalBox }] : [],
    ),
  );
  return new Set(
    crops
      .filter(({ canonicalBox }) => coveredShare(box, canonicalBox) >= shownShare)
      .map(({ turn }) => turn),
  );
}

/** Calls that ran, of tools that cannot help with the task. */
function wrongToolErrors(
  { turns }: ScoredTrajectory,
  { facts: { helpfulTools } }: ToolRecord,
): readonly ErrorTag[] {
  if (helpfulTools === undefined) return [];
  return turns.flatMap(({ action, result }, turn): readonly ErrorTag[] => {
    const isWrong =
      action.kind === 'toolCall' && result?.kind === 'ok' && !helpfulTools.includes(action.name);
    return isWrong ? [{ kind: 'E4', turn, reason: `${action.name} is the wrong tool` }] : [];
  });
}

/** Valid calls at the wrong place. */
function contentErrors(
  { facts: { box, requiredTools }, core }: ToolRecord,
  { toolUses }: RewardContext,
  shown: ReadonlySet<number>,
): readonly ErrorTag[] {
  const lastShown = Math.max(-1, ...shown);
  const certain = new Set(core);
  return toolUses.flatMap(({ turn, operations }): readonly ErrorTag[] => {
    const done = operations.filter((operation) => certain.has(operation));
    const crops = done.filter(({ kind }) => kind === 'crop');
    const misses = box !== undefined && crops.length > 0 && turn > lastShown;
    const turns = done.filter(({ kind }) => kind !== 'crop');
    const isNeedless =
      requiredTools !== undefined &&
      turns.length > 0 &&
      requiredTools.every((tool) => tool === 'crop');
    return [
      ...(misses ? [{ kind: 'E4' as const, turn, reason: 'crop misses the box' }] : []),
      ...(isNeedless ? [{ kind: 'E4' as const, turn, reason: 'needless turn' }] : []),
    ];
  });
}

/** Share of the first box that the second covers. */
function coveredShare([l, t, r, b]: Box, [left, top, right, bottom]: Box): number {
  const width = Math.max(0, Math.min(r, right) - Math.max(l, left));
  const height = Math.max(0, Math.min(b, bottom) - Math.max(t, top));
  const area = (r - l) * (b - t);
  return area > 0 ? (width * height) / area : 0;
}

/** Whether text has the answer as a word of its own: `12` is not in `112`. */
function saysAnswer(text: string, answer: string): boolean {
  const wanted = words(answer);
  const said = words(text);
  if (wanted.length === 0) return false;
  return said.some((_, from) => wanted.every((word, i) => said[from + i] === word));
}

function words(text: string): readonly string[] {
  // A dot belongs to a number, not to the end of a sentence.
  return text.toLowerCase().match(/[\p{L}\p{N}]+(?:\.[\p{L}\p{N}]+)*/gu) ?? [];
}
