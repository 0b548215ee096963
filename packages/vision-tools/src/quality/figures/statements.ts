/** Statements in one spelling each, so that those that were found can be compared with the truth. */
import { writeStatement } from '../../geometry/cdl/write-cdl.ts';
import { heading, type Position } from '../../geometry/construction/drawing.ts';
import type { Scores } from '../quality.ts';
import { constructionTruth, type Laid } from './scene.ts';

type Lines = readonly (readonly string[])[];

/** Statements about the construction; all others that a diagram makes are marks. */
const construction = /^(?:Shape|Collinear|Cocircular|Reflex)\(/;
/** Statements that only say that something is there. */
const mentions = /^(?:Polygon|Line|Shape)\(/;

/** Lines of an answer that are statements or goals. */
export function statementsIn(text: string): readonly string[] {
  return text.split('\n').filter((line) => /^[A-Z]\w+\(.*\)$/.test(line));
}

/** The statements about the construction, and the others. */
export function parted(lines: readonly string[]): {
  readonly built: readonly string[];
  readonly marks: readonly string[];
} {
  return {
    built: lines.filter((line) => construction.test(line)),
    marks: lines.filter((line) => !construction.test(line)),
  };
}

/** How a figure is built, as the tools write it. */
export function builtTruth(laid: Laid): readonly string[] {
  return constructionTruth(laid).map(writeStatement);
}

/** The marks and measures of a figure, as the tools write them. */
export function marksTruth({ drawing, scene }: Laid): readonly string[] {
  const length = (segment: string): string => `LengthOfLine(${segment})`;
  const at = (point: string): Position => drawing.points.get(point) ?? { x: 0, y: 0 };
  const pairs = (groups: readonly (readonly string[])[] = []): readonly (readonly string[])[] =>
    groups.flatMap(([first = '', ...others]) => others.map((other) => [first, other]));
  return [
    ...drawing.circles.map(({ name }) => `IsCentreOfCircle(${name},${name})`),
    ...Object.entries(scene.lengths ?? {}).map(
      ([segment, text]) => `Equal(${length(segment)},${text})`,
    ),
    ...Object.entries(scene.angles ?? {}).map(
      ([corner, text]) =>
        `Equal(MeasureOfAngle(${turnedLeft(corner, at)}),${text.replace('°', '')})`,
    ),
    ...(scene.right ?? []).map(([a, b, c]) => `PerpendicularBetweenLine(${a}${b},${c}${b})`),
    ...pairs(scene.ticks).map(([a = '', b = '']) => `Equal(${length(a)},${length(b)})`),
    ...pairs(scene.arrows).map(([a, b]) => `ParallelBetweenLine(${a},${b})`),
  ];
}

/** FormalGeo's angle ABC runs counterclockwise from BC to BA. */
function turnedLeft(corner: string, at: (point: string) => Position): string {
  const [a = '', b = '', c = ''] = corner;
  const turn = heading(at(b), at(a)) - heading(at(b), at(c));
  const isLeft = (turn + 4 * Math.PI) % (2 * Math.PI) < Math.PI;
  return isLeft ? `${a}${b}${c}` : `${c}${b}${a}`;
}

/** How statements are compared. */
export interface Spelling {
  /** Points in order along each line: a segment of a line says the same as another of it. */
  readonly lines: Lines;
  /** Whether angle ABC differs from CBA, as in a diagram. */
  readonly isOriented: boolean;
}

/** `recall`, `precision` and `exact` of a set of statements; mentions of a polygon say nothing. */
export function statementScores(
  found: readonly string[],
  truth: readonly string[],
  spelling: Spelling,
  prefix: string,
): Scores {
  const spelled = (all: readonly string[]): ReadonlySet<string> =>
    new Set(all.map((one) => spell(one, spelling)));
  const [own, wanted] = [spelled(found), spelled(truth)];
  const common = [...own].filter((one) => wanted.has(one)).length;
  return {
    ...(wanted.size > 0 && { [`${prefix} recall`]: common / wanted.size }),
    ...(own.size > 0 && { [`${prefix} precision`]: common / own.size }),
    [`${prefix} exact`]: Number(common === own.size && common === wanted.size),
  };
}

/** Statements without those that only mention a figure. */
export function withoutMentions(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => !mentions.test(line));
}

/** One spelling of a statement, a goal or an expression. */
export function spell(text: string, spelling: Spelling): string {
  const call = /^(\w+)\((.*)\)$/.exec(text.replaceAll(/[\s*]/g, ''));
  if (call === null) return text.replaceAll(/[\s*]/g, '');
  const [, name = '', inside = ''] = call;
  const parts = partsOf(inside);
  if (spelling.lines.length === 0) {
    const corner = cornerOf(name, parts);
    if (corner !== undefined) return `Right(${angle(corner, spelling)})`;
  }
  if (name === 'Equal' || name === 'Add' || name === 'Mul') {
    return `${name}(${parts.map((part) => spell(part, spelling)).sort()})`;
  }
  if (parts.some((part) => part.includes('('))) {
    return `${name}(${parts.map((part) => spell(part, spelling))})`;
  }
  return `${name}(${groupsOf(name, parts, spelling)})`;
}

/** The corner of 90° that a statement of a text says in one of three ways. */
function cornerOf(name: string, parts: readonly string[]): string | undefined {
  const [first = '', second = ''] = parts;
  if (name === 'RightTriangle') return first;
  if (name === 'Equal' && second === '90') return /^MeasureOfAngle\((.{3})\)$/.exec(first)?.[1];
  if (name !== 'PerpendicularBetweenLine') return undefined;
  const vertex = [...first].find((point) => second.includes(point));
  return vertex === undefined
    ? undefined
    : `${first.replace(vertex, '')}${vertex}${second.replace(vertex, '')}`;
}

/** Parts between commas outside of brackets. */
function partsOf(inside: string): readonly string[] {
  const parts = [''];
  let depth = 0;
  for (const sign of inside) {
    if (sign === '(') depth++;
    if (sign === ')') depth--;
    if (sign === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += sign;
  }
  return parts;
}

function groupsOf(name: string, groups: readonly string[], spelling: Spelling): readonly string[] {
  if (construction.test(`${name}(`)) return groups;
  if (name === 'MeasureOfAngle') return groups.map((group) => angle(group, spelling));
  if (/^(?:Parallel|Perpendicular)BetweenLine$/.test(name)) {
    return groups.map((group) => wholeLine(group, spelling)).sort();
  }
  if (/Between(?:Triangle)$/.test(name)) {
    const [first = '', second = ''] = groups;
    const [there, back] = [matched(first, second), matched(second, first)];
    return [[there, back].sort()[0] ?? there];
  }
  return groups.map((group) => (/^[A-Z]{2}$/.test(group) ? sorted(group) : ring(group)));
}

function sorted(group: string): string {
  return [...group].sort().join('');
}

/** Corners from the first in the alphabet, in the direction that comes first. */
function ring(group: string): string {
  const letters = [...group];
  const turns = [letters, letters.toReversed()].flatMap((way) =>
    way.map((_, index) => [...way.slice(index), ...way.slice(0, index)].join('')),
  );
  return turns.sort()[0] ?? group;
}

/** Corners of two triangles that correspond, in the order of the first. */
function matched(first: string, second: string): string {
  return [...first]
    .map((corner, index) => `${corner}${second[index] ?? ''}`)
    .sort()
    .join('');
}

function wholeLine(segment: string, { lines }: Spelling): string {
  const [a = '', b = ''] = segment;
  const line = lines.find((one) => one.includes(a) && one.includes(b));
  return sorted((line ?? [a, b]).join(''));
}

/** Each ray by the point next to the vertex. */
function angle(corner: string, { lines, isOriented }: Spelling): string {
  const [a = '', b = '', c = ''] = corner;
  const near = (to: string): string => {
    const line = lines.find((one) => one.includes(b) && one.includes(to));
    const [from, there] = [line?.indexOf(b) ?? 0, line?.indexOf(to) ?? 0];
    return line?.[from + Math.sign(there - from)] ?? to;
  };
  const [first, last] = isOriented ? [near(a), near(c)] : [near(a), near(c)].sort();
  return `${first}${b}${last}`;
}
