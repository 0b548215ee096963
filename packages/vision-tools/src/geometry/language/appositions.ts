/** Facts said in passing: `chord AB`, `hypotenuse AB`, `diameter CD` name what the points are. */
import { pointsOf, relation, type Statement } from '../cdl/statement.ts';
import type { Context } from './context.ts';

const pattern =
  /\b(chord|chords|diameter|radius|hypotenuse)\s+(?:is\s+)?([A-Z][0-9']*[A-Z][0-9']*)(?:\s+and\s+([A-Z][0-9']*[A-Z][0-9']*))?(?![A-Za-z0-9'])/g;

/** @param text  normalized */
export function appositionsIn(text: string, context: Context): readonly Statement[] {
  return [...text.matchAll(pattern)].flatMap(([, kind = '', first = '', second]) =>
    (second === undefined ? [first] : [first, second]).flatMap((ends) => said(kind, ends, context)),
  );
}

function said(kind: string, ends: string, context: Context): readonly Statement[] {
  if (kind === 'hypotenuse') {
    const triangle = context.onlyPolygon(3);
    const apex = triangle?.find((corner) => !pointsOf(ends).includes(corner));
    const [a, b] = pointsOf(ends);
    return apex === undefined ? [] : [relation('RightTriangle', `${a}${apex}${b}`)];
  }
  if (!context.hasCircle) return [];
  const circle = context.onlyCircle;
  if (kind === 'diameter') return [relation('IsDiameterOfCircle', ends, circle)];
  return pointsOf(ends)
    .filter((point) => point !== circle)
    .map((point) => relation('Cocircular', circle, point));
}
