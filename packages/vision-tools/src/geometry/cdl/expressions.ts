/** Measures and arithmetic in terms, in FormalGeo's words and in Inter-GPS's. */
import { Real } from '../numbers/real.ts';
import { CdlError } from './errors.ts';
import { pointsIn } from './points.ts';
import { type Expression, type OperationName, type QuantityName, quantity } from './statement.ts';
import type { Term } from './term.ts';

/** FormalGeo's measures, with the numbers of points that each may have. */
const measures: Readonly<Record<string, readonly [QuantityName, readonly number[]]>> = {
  LengthOfLine: ['length', [2]],
  MeasureOfAngle: ['angle', [3]],
  MeasureOfArc: ['arc', [3]],
  LengthOfArc: ['arcLength', [3]],
  RadiusOfCircle: ['radius', [1]],
  DiameterOfCircle: ['diameter', [1]],
  PerimeterOfCircle: ['circumference', [1]],
  AreaOfCircle: ['circleArea', [1]],
  PerimeterOfTriangle: ['perimeter', [3]],
  AreaOfTriangle: ['area', [3]],
  HeightOfTriangle: ['height', [3]],
  PerimeterOfQuadrilateral: ['perimeter', [4]],
  AreaOfQuadrilateral: ['area', [4]],
  HeightOfQuadrilateral: ['height', [4]],
  PerimeterOfPolygon: ['perimeter', [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
  AreaOfPolygon: ['area', [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
  AreaOfSector: ['sectorArea', [3]],
  PerimeterOfSector: ['sectorPerimeter', [3]],
  RadiusOf: ['radius', [1]],
  DiameterOf: ['diameter', [1]],
  CircumferenceOf: ['circumference', [1]],
};

const operations: Readonly<Record<string, readonly [OperationName, number]>> = {
  Add: ['add', 2],
  SumOf: ['add', 2],
  Sub: ['subtract', 2],
  Mul: ['multiply', 2],
  Div: ['divide', 2],
  RatioOf: ['divide', 2],
  Pow: ['power', 2],
  Sin: ['sine', 1],
  SinOf: ['sine', 1],
  sin: ['sine', 1],
  Cos: ['cosine', 1],
  CosOf: ['cosine', 1],
  cos: ['cosine', 1],
  Tan: ['tangent', 1],
  TanOf: ['tangent', 1],
  tan: ['tangent', 1],
  Sqrt: ['root', 1],
  sqrt: ['root', 1],
  SqrtOf: ['root', 1],
};

/** Measures of Inter-GPS whose argument says what is measured. */
const ofShape: Readonly<
  Record<string, Readonly<Record<string, QuantityName>> & { readonly other?: QuantityName }>
> = {
  LengthOf: { Line: 'length', Arc: 'arcLength', other: 'length' },
  MeasureOf: { Angle: 'angle', Arc: 'arc', other: 'angle' },
  AreaOf: { Circle: 'circleArea', Sector: 'sectorArea', other: 'area' },
  PerimeterOf: { Circle: 'circumference', Sector: 'sectorPerimeter', other: 'perimeter' },
  HeightOf: { other: 'height' },
};

/** @throws CdlError if a term measures nothing */
export function expressionOf(term: Term): Expression {
  if (term.kind === 'number') return { kind: 'number', value: Real.of(term.value) };
  if (term.kind === 'name') return nameOf(term.name);
  const { name, of } = term;
  const [first] = of;
  if (name === 'Neg' && first !== undefined) {
    return operation('subtract', number(0), expressionOf(first));
  }
  if (Object.hasOwn(operations, name)) return operationOf(name, of);
  if (name === 'HalfOf' && first !== undefined) {
    return operation('divide', expressionOf(first), number(2));
  }
  if (name === 'SquareOf' && first !== undefined) {
    return operation('power', expressionOf(first), number(2));
  }
  if (name === 'RatioOfSimilarTriangle' || name === 'RatioOfMirrorSimilarTriangle') {
    return ratioOf(of);
  }
  return measureOf(term);
}

function nameOf(name: string): Expression {
  if (name === 'pi') return { kind: 'number', value: Real.pi };
  // Two capital letters on their own are the length between them.
  const isLength = /^[A-Z][0-9']*[A-Z][0-9']*$/.test(name);
  return isLength ? quantity('length', name) : { kind: 'symbol', name };
}

function operationOf(name: string, of: readonly Term[]): Expression {
  const [operationName, count] = operations[name] ?? ['add', 0];
  const isSum = operationName === 'add' || operationName === 'multiply';
  if (isSum ? of.length < 1 : of.length !== count) {
    throw new CdlError(`${name} takes ${count} arguments, got ${of.length}.`);
  }
  const parts = of.map(expressionOf);
  const [head, ...tail] = parts;
  if (!isSum || head === undefined) return { kind: 'operation', name: operationName, of: parts };
  return tail.reduce((sum, part) => operation(operationName, sum, part), head);
}

/** The ratio of corresponding sides. */
function ratioOf(of: readonly Term[]): Expression {
  const [[a, b] = [], [c, d] = []] = of.map(pointsIn);
  if (a === undefined || b === undefined || c === undefined || d === undefined) {
    throw new CdlError('RatioOfSimilarTriangle needs two triangles.');
  }
  return operation('divide', quantity('length', [a, b]), quantity('length', [c, d]));
}

function measureOf({ name, of }: Extract<Term, { kind: 'call' }>): Expression {
  const known = Object.hasOwn(measures, name) ? measures[name] : undefined;
  if (known !== undefined) {
    const [quantityName, sizes] = known;
    const points = of.flatMap(pointsIn);
    if (sizes.includes(points.length) && new Set(points).size === points.length) {
      return quantity(quantityName, points);
    }
    throw new CdlError(`${name}(${points.join('')}) does not fit. It takes ${sizes[0]} points.`);
  }
  const kinds = Object.hasOwn(ofShape, name) ? ofShape[name] : undefined;
  const [shape] = of;
  if (kinds !== undefined && shape !== undefined) {
    const kind = shape.kind === 'call' ? kinds[shape.name] : undefined;
    const quantityName = kind ?? kinds.other;
    const points = pointsIn(shape);
    const least = { length: 2, angle: 3, arc: 3 } as Partial<Record<QuantityName, number>>;
    if (quantityName !== undefined && points.length >= (least[quantityName] ?? 1)) {
      return quantity(quantityName, points);
    }
  }
  throw new CdlError(`${name} is no known measure with these arguments.`);
}

export function number(value: number): Expression {
  return { kind: 'number', value: Real.of(value) };
}

export function operation(name: OperationName, ...of: readonly Expression[]): Expression {
  return { kind: 'operation', name, of };
}
