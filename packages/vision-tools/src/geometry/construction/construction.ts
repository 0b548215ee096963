/** The facts in a drawing without any measure: FormalGeo's construction statements. */
import type { Point, Relation } from '../cdl/statement.ts';
import { type Drawing, heading, type Position, turnOf } from './drawing.ts';
import { facesOf } from './faces.ts';

/** A corner turns if its sine is more than this; a diagram read from pixels has errors of a degree. */
const straight = 0.03;

/**
 * The lines, circles and faces of a drawing in a canonical order: points that lie on a line, then on
 * circles, counterclockwise, then what the lines enclose.
 */
export function constructionOf(drawing: Drawing): readonly Relation[] {
  const { points, lines, circles } = drawing;
  const at = (point: Point): Position => points.get(point) ?? { x: 0, y: 0 };
  const statements: Relation[] = [];
  for (const line of lines) {
    if (line.length > 2)
      statements.push({ kind: 'relation', name: 'Collinear', groups: [forward(line)] });
  }
  for (const circle of circles) {
    const order = [...circle.points].sort(
      (a, b) => heading(circle.center, at(a)) - heading(circle.center, at(b)),
    );
    if (order.length > 0) {
      statements.push({
        kind: 'relation',
        name: 'Cocircular',
        groups: [[circle.name], fromFirst(order)],
      });
    }
  }
  return [...statements, ...shapesOf(drawing, at)];
}

function shapesOf(drawing: Drawing, at: (point: Point) => Position): readonly Relation[] {
  const { faces, corners } = facesOf(drawing);
  const shapes: Relation[] = [];
  for (const face of faces.map(fromFirst)) {
    const edges = face.map((corner, index) => [corner, face[(index + 1) % face.length] ?? corner]);
    shapes.push({ kind: 'relation', name: 'Shape', groups: edges });
    for (const [index, corner] of face.entries()) {
      const triple = [
        face.at(index - 1) ?? corner,
        corner,
        face[(index + 1) % face.length] ?? corner,
      ];
      const [a, b, c] = triple.map(at);
      if (a !== undefined && b !== undefined && c !== undefined && sineOf(a, b, c) < -straight) {
        shapes.push({ kind: 'relation', name: 'Reflex', groups: [triple] });
      }
    }
  }
  for (const [from, vertex, to] of corners) {
    const edges = [
      [from, vertex],
      [vertex, to],
    ];
    shapes.push({ kind: 'relation', name: 'Shape', groups: edges });
  }
  return shapes.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Positive where the way from a over b to c turns left. */
function sineOf(a: Position, b: Position, c: Position): number {
  const lengths = Math.hypot(b.x - a.x, b.y - a.y) * Math.hypot(c.x - b.x, c.y - b.y);
  return turnOf(a, b, c) / (lengths || 1);
}

function key({ groups }: Relation): string {
  return groups.flat().join('');
}

/** A line from the end that is first in the alphabet. */
function forward(line: readonly Point[]): readonly Point[] {
  const [first, last] = [line[0] ?? '', line.at(-1) ?? ''];
  return first < last ? line : [...line].reverse();
}

/** A cycle from its first point in the alphabet. */
function fromFirst(cycle: readonly Point[]): readonly Point[] {
  const start = cycle.indexOf([...cycle].sort()[0] ?? '');
  return [...cycle.slice(start), ...cycle.slice(0, start)];
}
