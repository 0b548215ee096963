/** Reads the text of a geometry problem: what is given, what is asked, and what was not understood. */
import { CdlError } from '../cdl/errors.ts';
import {
  type Expression,
  equality,
  type Goal,
  pointsOf,
  quantity,
  type Statement,
} from '../cdl/statement.ts';
import { writeStatement } from '../cdl/write-cdl.ts';
import { appositionsIn } from './appositions.ts';
import { circleRules } from './circle-rules.ts';
import { Context } from './context.ts';
import { goalsIn, isQuestion } from './goals.ts';
import { readExpression } from './measure-phrases.ts';
import { normalize, withoutFillers } from './normalize.ts';
import { linearRules, parts } from './rules.ts';

export interface ReadProblem {
  readonly statements: readonly Statement[];
  readonly goals: readonly Goal[];
  /** Clauses that say something else, or nothing that the grammar knows. */
  readonly unread: readonly string[];
}

const maxText = 4000;
const { PP, MANY } = parts;

/** @throws CdlError if the text is too long to be a problem */
export function readProblem(text: string): ReadProblem {
  if (text.length > maxText) {
    throw new CdlError(`The text has ${text.length} characters, more than ${maxText}.`);
  }
  const plain = normalize(text);
  const context = new Context(plain);
  const statements: Statement[] = [...appositionsIn(plain, context)];
  const goals: Goal[] = [];
  const unread: string[] = [];
  for (const sentence of sentencesOf(plain)) {
    const { given, asked } = split(sentence);
    const read = readClauses(given, context);
    statements.push(...read.statements);
    unread.push(...read.unread);
    if (asked === undefined) continue;
    const found = goalsIn(asked, context);
    if (found === undefined) unread.push(asked);
    else goals.push(...found);
  }
  return { statements: distinct(statements), goals, unread };
}

/** Sentences end with a full stop that is no decimal point, a semicolon or a question mark. */
function sentencesOf(text: string): readonly string[] {
  return text
    .split(/(?<=\?)|\.(?=\s|$)|[;\n]/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

/** Splits a sentence where its question begins: at its verb or its question word. */
function split(sentence: string): { readonly given: string; readonly asked: string | undefined } {
  const start =
    /\b(?:please\s+)?(?:find|calculate|determine|compute|evaluate|solve for|work out|prove|show that|what\s+(?:is|are)|what's|how\s+(?:long|large|big|many))\b/i.exec(
      sentence,
    ) ?? /\bthen\b(?=.*(?:\(\s*\)|_+|\?|equals?|=|is)\s*[().?_\s]*$)/i.exec(sentence);
  if (start !== null) {
    return { given: sentence.slice(0, start.index), asked: sentence.slice(start.index) };
  }
  return isQuestion(sentence)
    ? { given: '', asked: sentence }
    : { given: sentence, asked: undefined };
}

interface Clauses {
  readonly statements: readonly Statement[];
  readonly unread: readonly string[];
}

/** Reads a chunk whole if it can, and otherwise its parts. */
function readClauses(chunk: string, context: Context): Clauses {
  const clause = withoutFillers(chunk.replace(/^\s*(?:and|where|with|so|then)\b/i, ''));
  if (!/[A-Za-z0-9]/.test(clause) || /^(?:in|at|and|where|with|is|so|then|on|of)$/i.test(clause)) {
    return { statements: [], unread: [] };
  }
  const whole = readClause(clause, context);
  if (whole !== undefined) return { statements: whole, unread: [] };
  let best: Clauses | undefined;
  for (const separator of [
    /,\s*(?:and\s+)?/,
    /\s+(?:where|such that|so that|which|if)\s+/,
    /\s+with\s+/,
    /\s+and\s+/,
  ]) {
    const found = splitBy(clause, separator, context);
    if (found !== undefined && (best === undefined || found.unread.length < best.unread.length)) {
      best = found;
    }
    if (best?.unread.length === 0) break;
  }
  return best ?? { statements: [], unread: [clause] };
}

/** Splits at one place at a time: the longest beginning that can be read, and the rest. */
function splitBy(clause: string, separator: RegExp, context: Context): Clauses | undefined {
  const pieces = clause.split(separator);
  if (pieces.length < 2 || pieces.length > 24) return undefined;
  const joints = [...clause.matchAll(new RegExp(separator, 'g'))].map(([joint]) => joint);
  for (let length = pieces.length - 1; length > 0; length--) {
    const first = pieces
      .slice(0, length)
      .map((piece, index) => piece + (index < length - 1 ? (joints[index] ?? '') : ''))
      .join('');
    const read = readClause(withoutFillers(first), context);
    if (read === undefined && length > 1) continue;
    const rest = pieces
      .slice(length)
      .map(
        (piece, index, all) =>
          piece + (index < all.length - 1 ? (joints[length + index] ?? '') : ''),
      )
      .join('');
    const head: Clauses =
      read === undefined ? readClauses(first, context) : { statements: read, unread: [] };
    const tail = readClauses(withSubject(first, rest), context);
    return {
      statements: [...head.statements, ...tail.statements],
      unread: [...head.unread, ...tail.unread],
    };
  }
  return undefined;
}

/** `ABCD is a square with side length 5`: the rest is about the same polygon or circle. */
function withSubject(first: string, rest: string): string {
  const subject = new RegExp(`((?:△|circle)\\s*(?:[A-Z][0-9']*)+|${MANY})`).exec(first)?.[1];
  const isAbout =
    /^(?:has |with )?(?:side length|side|radius|diameter|perimeter|area|circumference)\b/i.test(
      rest,
    );
  return isAbout && subject !== undefined
    ? `${subject} has ${rest.replace(/^(?:has|with) /i, '')}`
    : rest;
}

/** The statements that a clause makes, if the grammar has it. */
function readClause(clause: string, context: Context): readonly Statement[] | undefined {
  try {
    for (const { pattern, read } of [...linearRules, ...circleRules]) {
      const match = pattern.exec(clause);
      if (match === null) continue;
      const statements = read(context, ...(match.slice(1) as string[]));
      if (statements !== undefined) return statements;
    }
    return owned(clause, context) ?? equalities(clause, context);
  } catch (error) {
    if (error instanceof CdlError) return undefined;
    throw error;
  }
}

/** `ABCD has perimeter 20`, `circle O has radius 5`, `square ABCD has side length 4`. */
function owned(clause: string, context: Context): readonly Statement[] | undefined {
  const pattern =
    /^(?:.*?)(circle|△)?\s*((?:[A-Z][0-9']*)+) (?:has |with )(side length|side|radius|diameter|perimeter|area|circumference)(?: of| is| =)? (.+)$/;
  const match = pattern.exec(clause);
  if (match === null) return undefined;
  const [, kind, name = '', what = '', value = ''] = match;
  const right = readExpression(value, context);
  const points = pointsOf(name);
  if (what.startsWith('side')) {
    return points.length < 3
      ? undefined
      : [equality(quantity('length', points.slice(0, 2)), right)];
  }
  const isCircle = kind === 'circle' || points.length === 1;
  const measure = isCircle
    ? (
        {
          radius: 'radius',
          diameter: 'diameter',
          circumference: 'circumference',
          area: 'circleArea',
        } as const
      )[what]
    : ({ perimeter: 'perimeter', area: 'area' } as const)[what];
  return measure === undefined ? undefined : [equality(quantity(measure, points), right)];
}

/** `AB = CD = 5`, `∠ABC is 40°`, `AB measures 5`, `AB:CD = 2:3`. */
function equalities(clause: string, context: Context): readonly Statement[] | undefined {
  const sides = clause
    .replace(/^in /, '')
    .split(/\s*=\s*|\s+(?:is|measures|has (?:length|measure)(?: of)?|are)\s+/)
    .map((side) => side.trim());
  const [first, ...others] = sides;
  if (first === undefined || first === '' || others.length === 0) return undefined;
  const listed = listedMeasures(first);
  const left = listed.map((one) => readExpression(one, context));
  const right = others.map((side) => readExpression(side.replace(/^(?:each )/, ''), context));
  const all: readonly Expression[] = [...left, ...right];
  const last = all.at(-1);
  if (last === undefined || all.every(({ kind }) => kind === 'number')) return undefined;
  return all.slice(0, -1).map((side) => equality(side, last));
}

/** `AB and CD are 5`, `∠∠ABC and DEF are equal`. */
function listedMeasures(text: string): readonly string[] {
  if (/\b(?:sum|difference|ratio|product) of\b/.test(text)) return [text];
  const isAngles = text.startsWith('∠∠');
  const listed = text.replace(/^∠∠\s*/, '').split(/\s*,\s*|\s+and\s+/);
  const isList =
    listed.length > 1 &&
    listed.every((part) => new RegExp(`^(?:∠\\s*)?(?:${PP}|(?:[A-Z][0-9']*){3})$`).test(part));
  if (!isList) return [text.replace('∠∠', '∠')];
  return listed.map((part) => (isAngles && !part.startsWith('∠') ? `∠${part}` : part));
}

function distinct(statements: readonly Statement[]): readonly Statement[] {
  const seen = new Map(statements.map((statement) => [writeStatement(statement), statement]));
  return [...seen.values()];
}
