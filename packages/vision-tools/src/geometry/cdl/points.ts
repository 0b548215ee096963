/** Points in terms, however they are grouped. */
import { CdlError } from './errors.ts';
import type { Point } from './statement.ts';
import { pointsOf } from './statement.ts';
import type { Term } from './term.ts';

/** The points of `AB`, `Line(A, B)`, `Angle(A, B, C)` or `Triangle(ABC)`, in order. */
export function pointsIn(term: Term): readonly Point[] {
  const points = pointsOrNone(term);
  if (points === undefined) throw new CdlError(`${describe(term)} names no points.`);
  return points;
}

function pointsOrNone(term: Term): readonly Point[] | undefined {
  if (term.kind === 'number') return undefined;
  if (term.kind === 'name') {
    const points = pointsOf(term.name);
    return points.length > 0 && points.join('') === term.name ? points : undefined;
  }
  const inner: Point[] = [];
  for (const part of term.of) {
    const points = pointsOrNone(part);
    // `Circle(O, r)` names its radius beside its point.
    if (points === undefined) {
      if (term.name === 'Circle' && inner.length > 0) continue;
      return undefined;
    }
    inner.push(...points);
  }
  return inner.length === 0 ? undefined : inner;
}

function describe(term: Term): string {
  if (term.kind === 'number') return term.value;
  if (term.kind === 'name') return `"${term.name}"`;
  return `"${term.name}(…)"`;
}
