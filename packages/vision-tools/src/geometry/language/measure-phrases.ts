/** Phrases for measures, such as `the area of triangle ABC`, as terms of the formal language. */
import { CdlError } from '../cdl/errors.ts';
import { expressionOf } from '../cdl/expressions.ts';
import { type Expression, type Point, pointsOf } from '../cdl/statement.ts';
import { readTerm, type Term } from '../cdl/term.ts';
import type { Context } from './context.ts';

const point = "[A-Z][0-9']*";
const polygonWord =
  '(?:△|quadrilateral|parallelogram|rectangle|square|rhombus|kite|trapezoid|trapezium|polygon|pentagon|hexagon|octagon|regular\\s+\\w+|isosceles\\s+\\w+)?';
const circleWord = '(?:circle)?';

type Rewrite = readonly [RegExp, (context: Context, ...groups: string[]) => string];

const phrase = (source: string): RegExp => new RegExp(source, 'g');

/** In order: longer phrases before the letters that they contain. */
const rewrites: readonly Rewrite[] = [
  [
    phrase(`(?:length|measure) of minor arc (${point}${point})`),
    (context, ends) => arcOf(context, 'MeasureOfArc', ends),
  ],
  [
    phrase(`length of arc (${point}${point})`),
    (context, ends) => arcOf(context, 'LengthOfArc', ends),
  ],
  [
    phrase(`(?:measure of |° of )?arc (${point}${point}${point})`),
    (_context, points) => `MeasureOfArc(${points})`,
  ],
  [
    phrase(`(?:measure of |° of )?arc (${point}${point})`),
    (context, ends) => arcOf(context, 'MeasureOfArc', ends),
  ],
  [
    phrase(`area of sector (${point}${point}${point})`),
    (_context, points) => `AreaOfSector(${points})`,
  ],
  [
    phrase(`(radius|diameter|circumference|area|perimeter) of circle (${point})`),
    (_context, what, circle) => `${circleMeasures[what] ?? ''}(${circle})`,
  ],
  [
    phrase(`circle (${point})'s (radius|diameter|circumference|area)`),
    (_context, circle, what) => `${circleMeasures[what] ?? ''}(${circle})`,
  ],
  [
    phrase(`(radius|diameter|circumference) of ${circleWord}`),
    (context, what) => `${circleMeasures[what] ?? ''}(${context.onlyCircle})`,
  ],
  [
    phrase(`(area|perimeter) of ${polygonWord}\\s*((?:${point}){3,})`),
    (_context, what, points) =>
      `${what === 'area' ? 'AreaOf' : 'PerimeterOf'}${kind(points)}(${points})`,
  ],
  [
    phrase(
      `(sin|cos|tan)(?:e|ine|gent)?\\s*(?:of\\s+)?∠?\\s*((?:${point}){3}|${point})(?![A-Za-z])`,
    ),
    (context, what, points) => `${capital(what)}(${angleOf(context, points)})`,
  ],
  [
    phrase(
      `(?:(?:measure|size|value|magnitude|°|°\\s+measure) of )?∠\\s*((?:${point}){3}|${point})(?![A-Za-z])`,
    ),
    (context, points) => angleOf(context, points),
  ],
  [
    phrase(
      `(?:length|distance) (?:of|between|from) (${point})\\s*(?:and|to)?\\s*(${point})(?![A-Za-z])`,
    ),
    (_context, a, b) => `LengthOfLine(${a}${b})`,
  ],
  [
    phrase(
      `(?:side length|side|length of side) of (?:square|rhombus|equilateral △|regular \\w+) ((?:${point}){3,})`,
    ),
    (_context, points) => `LengthOfLine(${pointsOf(points).slice(0, 2).join('')})`,
  ],
  [
    phrase(
      `(?<![A-Za-z0-9])(?:diagonal|hypotenuse|leg|base|chord|radius|diameter|altitude|height|median|bisector|tangent|edge)?\\s*(?<![A-Za-z0-9])(${point}${point})(?![A-Za-z0-9'])`,
    ),
    (_context, ends) => `LengthOfLine(${ends})`,
  ],
];

const circleMeasures: Readonly<Record<string, string>> = {
  radius: 'RadiusOfCircle',
  diameter: 'DiameterOfCircle',
  circumference: 'PerimeterOfCircle',
  perimeter: 'PerimeterOfCircle',
  area: 'AreaOfCircle',
};

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function kind(points: string): string {
  const count = pointsOf(points).length;
  return count === 3 ? 'Triangle' : count === 4 ? 'Quadrilateral' : 'Polygon';
}

function arcOf(context: Context, name: string, ends: string): string {
  return `${name}(${context.onlyCircle}${ends})`;
}

/** ∠ABC, or ∠B as the only angle at B that the text can mean. */
function angleOf(context: Context, points: string): string {
  const named = pointsOf(points);
  const [vertex] = named;
  const corners: readonly Point[] | undefined =
    named.length === 3 || vertex === undefined ? named : context.cornerAt(vertex);
  if (corners === undefined) {
    throw new CdlError(`∠${points} could be several angles. Write it with three letters.`);
  }
  return `MeasureOfAngle(${corners.join('')})`;
}

/**
 * Reads an expression of numbers, letters and measures.
 *
 * @throws CdlError if words are left that are no measure
 */
export function readExpression(phraseText: string, context: Context): Expression {
  let text = ` ${phraseText} `
    .replace(/\b(areas|perimeters) of (sectors|△△)\s*(\S+) and (\S+)/g, (_m, what, kinds, a, b) => {
      const one = `${String(what).slice(0, -1)} of ${kinds === 'sectors' ? 'sector' : '△'}`;
      return `${one} ${a} and ${one} ${b}`;
    })
    .replace(/\bsum of (.+?) and ([^,]+)/g, '(($1) + ($2))')
    .replace(/\bdifference (?:of|between) (.+?) and ([^,]+)/g, '(($1) - ($2))')
    .replace(/\bratio of (.+?) (?:to|and) ([^,]+)/g, '($1) / ($2)')
    .replace(/\bproduct of (.+?) and ([^,]+)/g, '($1) * ($2)')
    .replace(/\b(?:twice|double)\b/g, '2 *')
    .replace(/\bthree \*/g, '3 *')
    .replace(/\b(?:one[- ])?half(?: of)?\b/g, '(1/2) *')
    .replace(/\b(?:one[- ])?third of\b/g, '(1/3) *')
    .replace(/\b(?:more than)\b/g, '+');
  // Rewritten text is kept aside, so that no later phrase finds its letters.
  const kept: string[] = [];
  for (const [pattern, by] of rewrites) {
    text = text.replace(pattern, (_match, ...groups) => {
      const named = groups.slice(0, -2).filter((group) => typeof group === 'string');
      kept.push(by(context, ...named));
      return ` ⟦${kept.length - 1}⟧ `;
    });
  }
  text = text.replace(/\b(?:length|measure|size|value|magnitude) of\b/g, ' ').replaceAll('°', ' ');
  text = text.replace(/([^:]+):([^:]+)/, '($1) / ($2)');
  text = text.replace(/⟦(\d+)⟧/g, (_match, index) => kept[Number(index)] ?? '');
  const term = readTerm(text.trim());
  checkWords(term);
  return expressionOf(term);
}

/** Words that are no measure would otherwise be taken for unknowns. */
function checkWords(term: Term): void {
  if (term.kind === 'name' && !/^(?:[a-z]|pi|[A-Z][0-9']*[A-Z][0-9']*)$/.test(term.name)) {
    throw new CdlError(`"${term.name}" is no measure.`);
  }
  if (term.kind !== 'call' || !arithmetic.has(term.name)) return;
  for (const part of term.of) checkWords(part);
}

const arithmetic: ReadonlySet<string> = new Set([
  ...['Add', 'Sub', 'Mul', 'Div', 'Pow', 'Neg', 'Sqrt', 'Sin', 'Cos', 'Tan'],
  ...['sqrt', 'sin', 'cos', 'tan'],
]);
