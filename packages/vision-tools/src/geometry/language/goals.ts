/** Questions of geometry problems: which value is asked for, or what is to be proved. */
import { CdlError } from '../cdl/errors.ts';
import type { Expression, Goal } from '../cdl/statement.ts';
import { circleRules } from './circle-rules.ts';
import type { Context } from './context.ts';
import { readExpression } from './measure-phrases.ts';
import { withoutFillers } from './normalize.ts';
import { linearRules } from './rules.ts';

const verbs =
  /^(?:please\s+)?(?:then\s+)?(?:find|calculate|determine|compute|evaluate|solve for|work out|what\s+(?:is|are)|what's|how\s+(?:long|large|big)\s+(?:is|are)|then)\b/i;

/** Whether a sentence without such a verb asks for something: `The length of AB is ___`. */
export function isQuestion(sentence: string): boolean {
  return /(?:\?|_{2,}|\(\s*\))\s*\.?$/.test(sentence);
}

/**
 * The goals of a question.
 *
 * @returns undefined if the grammar does not have it
 */
export function goalsIn(sentence: string, context: Context): readonly Goal[] | undefined {
  const proof = /^(?:please\s+)?(?:prove|show)\s+(?:that\s+)?(.*)$/i.exec(sentence.trim());
  if (proof !== null) return proofIn(proof[1] ?? '', context);
  const asked = withoutFillers(
    sentence
      .replace(verbs, ' ')
      .replace(/(?:\s+(?:is|are|=|equals?))?\s*(?:\(\s*\)|_+|\?|\s|\.|=|\bis\b)*$/i, ' ')
      .replace(/\b(?:exact|numerical|degree)\b/gi, ' ')
      .replace(/\b(?:in|to|round)\b(?:\s+\w+)*\s+(?:°|terms|nearest|place|decimal)\b.*$/i, ' '),
  );
  const parts = [asked, ...[asked.split(/\s*,\s*(?:and\s+)?|\s+and\s+/)]];
  for (const part of parts) {
    const listed = typeof part === 'string' ? [part] : part;
    const goals = listed.map((one) => askedValue(one, context));
    if (goals.every((goal) => goal !== undefined)) {
      return goals.map((of): Goal => ({ kind: 'value', of }));
    }
  }
  return undefined;
}

function askedValue(asked: string, context: Context): Expression | undefined {
  const plain = asked
    .replace(/^(?:value|values|measure|size|length|degree|number)s? (?:of )(?=[a-z]\b)/, '')
    .replace(/^(?:unknown|variable) /, '')
    .replace(/^(?:value|size) of /, '');
  try {
    const expression = readExpression(plain, context);
    return expression.kind === 'number' ? undefined : expression;
  } catch (error) {
    if (error instanceof CdlError) return undefined;
    throw error;
  }
}

function proofIn(text: string, context: Context): readonly Goal[] | undefined {
  const clause = withoutFillers(text);
  for (const { pattern, read } of [...linearRules, ...circleRules]) {
    const match = pattern.exec(clause);
    if (match === null) continue;
    const statements = read(context, ...(match.slice(1) as string[]));
    if (statements !== undefined) return statements.map((of): Goal => ({ kind: 'proof', of }));
  }
  const sides = clause.split(/\s*=\s*/);
  const [left, right, ...more] = sides.map((side) => valueOrNumber(side, context));
  if (left === undefined || right === undefined || more.length > 0) return undefined;
  return [{ kind: 'proof', of: { kind: 'equality', left, right } }];
}

function valueOrNumber(text: string, context: Context): Expression | undefined {
  try {
    return readExpression(text, context);
  } catch (error) {
    if (error instanceof CdlError) return undefined;
    throw error;
  }
}
