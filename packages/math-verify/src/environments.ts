/** Matrices, and the environments that hold them. */
import type { MathParser } from './cursor.ts';
import type { Expression } from './expression.ts';
import { NotMathematics } from './tokens.ts';

const matrices: ReadonlySet<string> = new Set([
  'matrix',
  'pmatrix',
  'bmatrix',
  'vmatrix',
  'Bmatrix',
  'smallmatrix',
  'array',
]);

function nameInBraces(parser: MathParser): string {
  parser.expectSign('{');
  const { text } = parser.next();
  parser.expectSign('}');
  return text;
}

/** After `\begin`: a matrix; the determinant of one between bars. */
export function parseEnvironment(parser: MathParser): Expression {
  const name = nameInBraces(parser);
  if (!matrices.has(name)) throw new NotMathematics(`environment ${name}`);
  if (name === 'array' && parser.isSign('{')) {
    while (parser.next().text !== '}');
  }
  const rows: Expression[][] = [];
  let row: Expression[] = [];
  while (!parser.isCommand('end')) {
    row.push(parser.relation());
    if (parser.isSign('&')) parser.next();
    else if (parser.isCommand('\\')) {
      parser.next();
      rows.push(row);
      row = [];
    } else if (!parser.isCommand('end')) throw new NotMathematics('matrix');
  }
  parser.next();
  if (nameInBraces(parser) !== name) throw new NotMathematics(`\\end of ${name}`);
  if (row.length > 0) rows.push(row);
  const width = rows[0]?.length ?? 0;
  if (width === 0 || rows.some((one) => one.length !== width)) {
    throw new NotMathematics('rows of different lengths');
  }
  const matrix: Expression = { kind: 'matrix', rows };
  return name === 'vmatrix' ? { kind: 'call', name: 'det', args: [matrix] } : matrix;
}
