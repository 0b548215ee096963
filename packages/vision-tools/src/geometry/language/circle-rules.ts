/** Sentences of textbooks about circles. */
import { equality, pointsOf, quantity, relation, type Statement } from '../cdl/statement.ts';
import type { Context } from './context.ts';
import { list, listOf, one, parts, type Rule, rule } from './rules.ts';

const { P, PP, MANY } = parts;
const circle = `circle (${P})`;

export const circleRules: readonly Rule[] = [
  rule(`(?:in )?${circle}`, (_c, name) => [relation('IsCentreOfCircle', name, name)]),
  rule(`(${P}) is center of ${circle}`, one('IsCentreOfCircle')),
  rule(`center of ${circle} is (${P})`, (_c, name, center) => [
    relation('IsCentreOfCircle', center, name),
  ]),
  rule(`(?:circle |${P} is )?(?:with )?center (${P})`, (_c, name) => [
    relation('IsCentreOfCircle', name, name),
  ]),
  rule(`(${PP}) is diameter(?: (?:of|in) ${circle})?`, (context, ends, name) =>
    named(context, name, (known) => [relation('IsDiameterOfCircle', ends, known)]),
  ),
  rule(`diameter of ${circle} is (${PP})`, (_c, name, ends) => [
    relation('IsDiameterOfCircle', ends, name),
  ]),
  rule(
    `(${listOf(PP)}) (?:is|are) (?:chords?|arcs?)(?: (?:of|in) ${circle})?`,
    (context, chords, name) => named(context, name, (known) => onCircle(pointsOf(chords), known)),
  ),
  rule(`(${listOf(PP)}) (?:is|are) (?:radius|radii)(?: of ${circle})?`, (context, radii, name) =>
    named(context, name, (known) => [
      ...onCircle(
        pointsOf(radii).filter((point) => point !== known),
        known,
      ),
      relation('IsCentreOfCircle', known, known),
    ]),
  ),
  rule(
    `(${listOf(P)}) (?:is|are|lies|lie)? ?on (?:circumference of )?${circle}`,
    (_c, points, name) => onCircle(list(points), name),
  ),
  rule(`(${listOf(P)}) (?:is|are|lies|lie)? ?on circle`, (context, points) =>
    named(context, undefined, (known) => onCircle(list(points), known)),
  ),
  rule(
    `(${PP}) (?:is )?(?:tangent|touches) (?:to |of )?${circle} at (${P})`,
    (_c, line, name, at) => tangent(line, name, at),
  ),
  rule(
    `(${PP}) (?:is )?(?:tangent|touches)(?: to| of| line of| line to)? ${circle}`,
    (_c, line, name) => [relation('IsTangentOfCircle', line, name)],
  ),
  rule(`(${PP}) is tangent(?: at (${P}))?`, (context, line, at) =>
    named(context, undefined, (known) =>
      at === undefined ? [relation('IsTangentOfCircle', line, known)] : tangent(line, known, at),
    ),
  ),
  rule(
    `(${PP}) and (${PP}) are (?:tangents?|tangent lines?)(?: (?:to|of) ${circle})?(?: at (${P}) and (${P}))?`,
    (context, first, second, name) =>
      named(context, name, (known) => twoTangents(first, second, known)),
  ),
  rule(
    `(?:△|quadrilateral|\\w+)?\\s*(${MANY}) is inscribed in ${circle}`,
    one('IsInscribedInCircle'),
  ),
  rule(
    `${circle} (?:is circumscribed about|circumscribes|is circumcircle of) (?:△|quadrilateral)?\\s*(${MANY})`,
    (_c, name, corners) => [relation('IsInscribedInCircle', corners, name)],
  ),
  rule(
    `${circle} is (?:inscribed in|incircle of) (?:△|quadrilateral)?\\s*(${MANY})`,
    (_c, name, corners) => [relation('IsCircumscribedToCircle', corners, name)],
  ),
  rule(
    `(?:△|quadrilateral)?\\s*(${MANY}) is circumscribed (?:about|around) ${circle}`,
    one('IsCircumscribedToCircle'),
  ),
  rule(`(${P}) is midpoint of arc (${PP})`, (context, middle, ends) =>
    named(context, undefined, (known) => {
      const [a = '', b = ''] = pointsOf(ends);
      // The chords to both ends are equally long, whichever way around the arc runs.
      return [
        ...onCircle([middle, a, b], known),
        equality(quantity('length', middle + a), quantity('length', middle + b)),
      ];
    }),
  ),
];

function named(
  context: Context,
  name: string | undefined,
  read: (known: string) => readonly Statement[] | undefined,
): readonly Statement[] | undefined {
  if (name !== undefined) return read(name);
  return context.hasCircle ? read(context.onlyCircle) : undefined;
}

/** One statement a point: the text does not say their order. */
function onCircle(points: readonly string[], name: string): readonly Statement[] {
  return [...new Set(points)].map((point) => relation('Cocircular', name, point));
}

function tangent(line: string, name: string, at: string): readonly Statement[] | undefined {
  const [p = '', q = ''] = pointsOf(line);
  if (q === at) return [relation('IsTangentOfCircle', line, name)];
  if (p === at) return [relation('IsTangentOfCircle', q + p, name)];
  // A line through both points that touches between them: both parts are tangents.
  return [relation('IsTangentOfCircle', p + at, name), relation('IsTangentOfCircle', q + at, name)];
}

/** PA and PB touch in A and B: the letter that both have is outside. */
function twoTangents(first: string, second: string, name: string): readonly Statement[] {
  const shared = pointsOf(first).find((point) => pointsOf(second).includes(point));
  return [first, second].map((line) => {
    const [p = '', q = ''] = pointsOf(line);
    return relation('IsTangentOfCircle', q === shared ? q + p : p + q, name);
  });
}
