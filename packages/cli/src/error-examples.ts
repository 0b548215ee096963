/** Examples of errors of tool use: what was called, and what the tool said. */
import { errorMeanings, isUndecided, resultText } from '@saccade/eval';
import type { ErrorColumn, ErrorExample } from '@saccade/report';
import { type Action, isToolUse } from '@saccade/trajectory';

/** Longest text of one call, or of what a tool said. */
const SHOWN_CHARACTERS = 600;

/** The wrong answers that have an error of a kind, or that nobody decided. */
export function examplesOf(
  all: readonly ErrorExample[],
  kind: ErrorColumn,
): readonly ErrorExample[] {
  return all.filter(({ tags, trajectory }) =>
    kind === 'undecided' ? isUndecided(trajectory, tags) : tags.some((tag) => tag.kind === kind),
  );
}

/** The lines of the first `count` examples of a kind. */
export function describeExamples(
  all: readonly ErrorExample[],
  kind: ErrorColumn,
  count: number,
): readonly string[] {
  const found = examplesOf(all, kind);
  const meaning =
    kind === 'undecided'
      ? 'Wrong after tools were used, for no known reason.'
      : errorMeanings[kind];
  const lines = [`${kind}: ${meaning} ${found.length} of the ${all.length} wrong answers kept.`];
  for (const example of found.slice(0, count)) lines.push('', ...describeExample(example, kind));
  return lines;
}

/** An example for programs, with every call and every tag. */
export function exampleJson({
  set,
  trajectory,
  question,
  expected,
  tags,
  isJudged = false,
}: ErrorExample): object {
  const { id, answer, turns } = trajectory;
  const calls = turns.flatMap(({ action, result }, turn) =>
    action.kind === 'answer'
      ? []
      : [{ turn, call: callText(action), ...(result && { said: resultText(result) }) }],
  );
  return { set, id, question, answer: answer ?? null, expected, tags, isJudged, calls };
}

/** The calls of a wrong answer in order, those with the error marked. */
function describeExample(
  { set, trajectory, question, expected, tags }: ErrorExample,
  kind: ErrorColumn,
): readonly string[] {
  const { id, answer, turns } = trajectory;
  const lines = [
    `${printable(set)}: ${printable(id)}`,
    ...block('question', question),
    ...block('answer', answer ?? '(none)'),
    ...block('right is', expected),
  ];
  turns.forEach(({ action, result }, turn) => {
    const own = tags.filter((tag) => tag.kind === kind && tag.turn === turn);
    const mark = own.map(({ reason }) => `   <- ${kind}: ${printable(reason)}`).join('');
    if (action.kind === 'answer') {
      if (mark !== '') lines.push(`  turn ${turn}, the answer${mark}`);
      return;
    }
    lines.push(`  turn ${turn}${mark}`, ...block('  call', callText(action)));
    if (result !== undefined) lines.push(...block('  said', resultText(result)));
  });
  return lines;
}

function callText(action: Exclude<Action, { kind: 'answer' }>): string {
  if (!isToolUse(action)) return `(${action.reason})`;
  if (action.kind === 'code') return action.code.trim();
  return `${action.name} ${JSON.stringify(action.arguments)}`;
}

/** A text under its name; lines after the first are indented alike. */
function block(name: string, text: string): readonly string[] {
  const [first = '', ...others] = shortened(printable(text)).split('\n');
  const margin = ' '.repeat(name.length + 4);
  return [`  ${name}: ${first}`, ...others.map((line) => `${margin}${line}`)];
}

/** Models and tools wrote these texts: none of them moves the cursor or colors the terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (sign) => ('\n\t'.includes(sign) ? sign : '\uFFFD'));
}

function shortened(text: string): string {
  if (text.length <= SHOWN_CHARACTERS) return text;
  return `${text.slice(0, SHOWN_CHARACTERS)} … (${text.length - SHOWN_CHARACTERS} characters more)`;
}
