/** Finds out what a question about formulas asks, and answers it. It reads no stories. */
import { definiteIntegral, derivative, evaluate, integral, limit, rearrange } from './calculus.ts';
import { readEquation, solveEquation } from './equations.ts';
import { MathError } from './errors.ts';
import { readFormula, valueAt } from './expression.ts';
import { solveInequality } from './inequalities.ts';
import type { MathAnswer } from './math-answer.ts';
import { listQuestion, matrixQuestion, unitQuestion } from './matrices.ts';
import { plainMath } from './plain.ts';
import { solveEquations } from './systems.ts';

const maxQuestion = 2000;

/** @throws MathError if it is no question about formulas, or one that cannot be answered */
export function solveMath(question: string): MathAnswer {
  if (question.length > maxQuestion) {
    throw new MathError(
      `The question has ${question.length} characters, more than ${maxQuestion}.`,
    );
  }
  const text = plainMath(question);
  const found = matrixQuestion(text) ?? unitQuestion(text) ?? listQuestion(text);
  if (found !== undefined) return found;
  for (const { pattern, read } of forms) {
    const match = pattern.exec(text);
    if (match !== null) return read(...(match.slice(1) as (string | undefined)[]));
  }
  return equationsOrValue(text);
}

interface Form {
  readonly pattern: RegExp;
  read(...groups: readonly (string | undefined)[]): MathAnswer;
}

const please = String.raw`^(?:please\s+)?(?:find|compute|calculate|determine|evaluate|what is|what's|work out)?\s*(?:the\s+)?`;
const end = String.raw`\s*[.?]?$`;

function form(source: string, read: Form['read']): Form {
  return { pattern: new RegExp(`${please}${source}${end}`, 'i'), read };
}

/** The letter that a formula is about: the one that is named, or the only one. */
function letterOf(named: string | undefined, formula: string): string {
  if (named !== undefined) return named;
  const { letters } = readFormula(formula);
  return letters.includes('x') ? 'x' : (letters[0] ?? 'x');
}

const forms: readonly Form[] = [
  form(
    String.raw`(second |third )?(?:derivative of|differentiate)\s+(?:(?:the function\s+)?[a-z]\([a-z]\)\s*=\s*|y\s*=\s*)?(.+?)(?:\s+with respect to ([a-z]))?(?:\s+at\s+[a-z]\s*=\s*(.+))?`,
    (nth, text = '', named, at) => derivativeAt(text, letterOf(named, text), orderOf(nth), at),
  ),
  form(String.raw`\(?d\s*\/\s*d([a-z])\)?\s*(?:of\s+)?\(?(.+?)\)?`, (letter = 'x', text = '') =>
    derivative(balanced(text), letter, 1),
  ),
  form(
    String.raw`(?:definite\s+)?(?:integral|int)\b\s*(?:of\s+)?(.+?)(?:\s+d([a-z]))?\s+(?:from\s+)(?:[a-z]\s*=\s*)?(.+?)\s+to\s+(?:[a-z]\s*=\s*)?(.+?)`,
    (text = '', named, from = '', to = '') =>
      definiteIntegral(text, letterOf(named, text), from, to),
  ),
  form(
    String.raw`int\s*_\s*(\([^()]*\)|-?\w+)\s*\^\s*(\([^()]*\)|\w+)\s*(.+?)\s*d([a-z])`,
    (from = '', to = '', text = '', letter = 'x') => definiteIntegral(text, letter, from, to),
  ),
  form(
    String.raw`integrate\s+(.+?)\s+from\s+(.+?)\s+to\s+(.+?)(?:\s+with respect to ([a-z]))?`,
    (text = '', from = '', to = '', named) =>
      definiteIntegral(withoutEnd(text), letterOf(named, withoutEnd(text)), from, to),
  ),
  form(
    String.raw`(?:indefinite\s+)?(?:integral of|int|integrate|antiderivative of)\s+(.+?)(?:\s+with respect to ([a-z])|\s+d([a-z]))?`,
    (text = '', named, other) => integral(text, letterOf(named ?? other, text)),
  ),
  form(
    String.raw`limit\s+(?:of\s+)?(.+?)\s+(?:as|when|for)\s+([a-z])\s+(?:approaches|goes to|tends to|to)\s+(.+?)`,
    (text = '', letter = 'x', to = '') => limit(text, letter, to),
  ),
  form(
    String.raw`lim\s*_?\s*\(?\s*([a-z])\s+to\s+(-?\s*[\w./]+)\s*\)?\s*(.+?)`,
    (letter = 'x', to = '', text = '') => limit(text, letter, to.replaceAll(' ', '')),
  ),
  form(String.raw`simplif(?:y|ied form of)\s+(?:the expression\s+)?(.+?)`, (text = '') =>
    rearrange('simplify', text),
  ),
  form(String.raw`(?:expand|expansion of|multiply out)\s+(.+?)`, (text = '') =>
    rearrange('expand', text),
  ),
  form(
    String.raw`(?:completely\s+)?(?:factor(?:ise|ize)?|factori[sz]ation of)\s+(?:completely\s+)?(?:the (?:expression|polynomial)\s+)?(.+?)`,
    (text = '') => rearrange('factor', text),
  ),
  form(
    String.raw`(?:value of\s+)?(.+?)\s+(?:when|if|where|for|at)\s+([a-z]\s*=\s*[^=]+)`,
    (text = '', given = '') => valueWith(text, given),
  ),
  form(
    String.raw`if\s+([a-z]\s*=\s*[^=]+?),?\s+(?:then\s+)?(?:find|what is|evaluate|compute|calculate)\s+(?:the value of\s+)?(.+?)`,
    (given = '', text = '') => valueWith(text, given),
  ),
];

/** `2x dx` is written where `2x` is integrated. */
function withoutEnd(text: string): string {
  return text.replace(/\s+d[a-z]$/, '');
}

/** A bracket around all of it, of which the pattern took one half. */
function balanced(text: string): string {
  const open = text.split('(').length - text.split(')').length;
  return open > 0 ? `${text}${')'.repeat(open)}` : text;
}

function orderOf(word: string | undefined): number {
  return { 'second ': 2, 'third ': 3 }[(word ?? '').toLowerCase()] ?? 1;
}

function derivativeAt(
  text: string,
  letter: string,
  order: number,
  at: string | undefined,
): MathAnswer {
  const found = derivative(text, letter, order);
  if (at === undefined) return found;
  const value = evaluate(substituted(found.answer.replaceAll('·', '*'), letter, at));
  return { ...value, steps: [...found.steps, ...value.steps] };
}

function substituted(text: string, letter: string, by: string): string {
  return plainMath(text).replaceAll(
    new RegExp(`(?<![A-Za-z])${letter}(?![A-Za-z])`, 'g'),
    `(${by})`,
  );
}

function valueWith(text: string, given: string): MathAnswer {
  const values = given.split(/\s*(?:,|\band\b)\s*(?=[a-z]\s*=)/).map((one) => one.split('='));
  let filled = text;
  for (const [letter = '', value = ''] of values)
    filled = substituted(filled, letter.trim(), value.trim());
  if (filled.includes('=')) throw new MathError('It is not clear what is asked.');
  if (readFormula(filled).letters.length > 0) throw new MathError('Not all letters have a value.');
  const found = evaluate(filled);
  return { ...found, steps: [`${text.trim()} with ${given.trim()}`, ...found.steps] };
}

/** Equations, inequalities, or a formula of which the value is asked. */
function equationsOrValue(text: string): MathAnswer {
  const forLetter =
    /\bfor\s+([a-z])\b(?:\s+and\s+[a-z]\b)*\s*[.?]?$|\b(?:find|value of|solve for)\s+([a-z])\b/i.exec(
      text,
    );
  const named = forLetter?.[1] ?? forLetter?.[2];
  const stripped = stripWords(text);
  const parts = stripped
    .split(/\s*(?:;|,|\band\b)\s*/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const equations = parts.filter((part) => /(?<![<>!])=/.test(part) && !/[<>]=?/.test(part));
  if (equations.length > 1) return solveEquations(equations.map(readEquation));
  const [equation] = equations;
  if (equation !== undefined) {
    const read = readEquation(equation);
    const letters = [...new Set([...read.left.letters, ...read.right.letters])];
    const letter =
      named !== undefined && letters.includes(named)
        ? named
        : letters.includes('x')
          ? 'x'
          : letters[0];
    if (letter === undefined) return isTrue(read.text, valueAt(read.left), valueAt(read.right));
    return solveEquation(read, letter);
  }
  if (/[<>]/.test(stripped)) {
    const found = solveInequality(stripped);
    if (found !== undefined) return found;
  }
  const formula = readFormula(stripped);
  return formula.letters.length === 0 ? evaluate(stripped) : rearrange('simplify', stripped);
}

function isTrue(text: string, left: number, right: number): MathAnswer {
  const holds = Math.abs(left - right) <= 1e-9 * (1 + Math.abs(left));
  const answer = holds ? 'true' : 'false';
  return { answer, values: [], steps: [`${text}: ${left} and ${right}, so ${answer}`] };
}

/** Takes away the words around formulas. What stays and is a word makes the formula unreadable. */
function stripWords(text: string): string {
  return (
    text
      .replace(/[.?!]+\s*$/, '')
      .replace(
        /\b(?:find|calculate|determine|solve for)\s+[a-z]\s+(?=(?:if|in|when|given|such that|so that)\b)/i,
        ' ',
      )
      // The letters asked for before a colon are no equation.
      .replace(
        /\b(?:find|calculate|determine|solve for)\s+(?:[a-z]\s*(?:,|and)\s*)*[a-z]\s*(?=:)/i,
        ' ',
      )
      .replace(/\bvalue of [a-z]\b/gi, ' ')
      .replace(/\b(?:in|such that|so that|where)\b(?=.*=)/gi, ' ')
      .replace(/^(?:question|problem|q)\s*\d*\s*[:.]\s*/i, '')
      .replace(
        /\b(?:please|solve|find|compute|calculate|evaluate|determine|work out|what is|what's|what are)\b/gi,
        ' ',
      )
      .replace(
        /\b(?:the )?(?:following |given )?(?:equations?|systems?(?: of (?:linear |simultaneous )?equations)?|inequalit(?:y|ies)|expressions?|simultaneous|solutions?|roots?|values?|results?)\b(?:\s+(?:of|to|for))?/gi,
        ' ',
      )
      .replace(/\b(?:for|of)\s+(?:all\s+)?(?:real\s+)?[a-z]\b(?:\s*(?:,|and)\s*[a-z]\b)*\s*$/i, ' ')
      .replace(/\bfor\s+[a-z]\b(?:\s*(?:,|and)\s*[a-z]\b)*\s*(?=[:,])/i, ' ')
      .replace(/\b(?:the|if|given|that|all|real|exact|unknown|then|is)\b/gi, ' ')
      .replace(/[.;,]?\s*\b(?:find|of)?\s*(?<![\w)=+*/^-]\s*)[a-z]\s*$/i, (tail) =>
        /^[.;,]/.test(tail) ? ' ' : tail,
      )
      .replace(/^[\s:,;]+|[\s:,;]+$/g, '')
      .replace(/:\s*/g, ' ')
      .trim()
  );
}
