/** Writes statements and goals in FormalGeo's language, and measures as a person does. */
import type { Equality, Expression, Goal, Quantity, Statement } from './statement.ts';

/** FormalGeo's name of a measure, by its number of points where that matters. */
function measureName({ name, points }: Quantity): string {
  const polygon =
    points.length === 3 ? 'Triangle' : points.length === 4 ? 'Quadrilateral' : 'Polygon';
  return {
    length: 'LengthOfLine',
    angle: 'MeasureOfAngle',
    arc: 'MeasureOfArc',
    arcLength: 'LengthOfArc',
    radius: 'RadiusOfCircle',
    diameter: 'DiameterOfCircle',
    circumference: 'PerimeterOfCircle',
    circleArea: 'AreaOfCircle',
    perimeter: `PerimeterOf${polygon}`,
    area: `AreaOf${polygon}`,
    height: `HeightOf${polygon}`,
    sectorArea: 'AreaOfSector',
    sectorPerimeter: 'PerimeterOfSector',
  }[name];
}

const calls = {
  add: 'Add',
  subtract: 'Sub',
  multiply: 'Mul',
  divide: 'Div',
  power: 'Pow',
  sine: 'Sin',
  cosine: 'Cos',
  tangent: 'Tan',
  root: 'Sqrt',
} as const;

const infix = {
  add: ['+', 1],
  subtract: ['-', 1],
  multiply: ['*', 2],
  divide: ['/', 2],
  power: ['^', 3],
} as const;

export function writeStatement(statement: Statement): string {
  if (statement.kind === 'equality') return writeEquality(statement);
  return `${statement.name}(${statement.groups.map((group) => group.join('')).join(',')})`;
}

function writeEquality({ left, right }: Equality): string {
  return `Equal(${writeExpression(left)},${writeExpression(right)})`;
}

export function writeGoal(goal: Goal): string {
  if (goal.kind === 'value') return `Value(${writeExpression(goal.of)})`;
  return goal.of.kind === 'equality'
    ? writeEquality(goal.of)
    : `Relation(${writeStatement(goal.of)})`;
}

/** Measures as calls; arithmetic of numbers and letters infix, as FormalGeo writes it. */
function writeExpression(expression: Expression): string {
  if (!hasMeasure(expression)) return writePlain(expression, 0);
  if (expression.kind === 'quantity') {
    return `${measureName(expression)}(${expression.points.join('')})`;
  }
  if (expression.kind !== 'operation') return writePlain(expression, 0);
  return `${calls[expression.name]}(${expression.of.map(writeExpression).join(',')})`;
}

function hasMeasure(expression: Expression): boolean {
  if (expression.kind === 'operation') return expression.of.some(hasMeasure);
  return expression.kind === 'quantity';
}

/**
 * Arithmetic as a person writes it, with measures as `AB` and `∠ABC`.
 *
 * @param level  how tightly the surroundings bind: brackets are written below it
 */
function writePlain(expression: Expression, level = 0): string {
  if (expression.kind === 'number') {
    const text = expression.value
      .toString()
      .replaceAll('π', 'pi')
      .replaceAll(/√(\d+)/g, 'sqrt($1)');
    const joined = text.replaceAll(/(\d)(?=pi|sqrt)/g, '$1*').replaceAll(')pi', ')*pi');
    return level > 1 && /[-+/* ]/.test(joined) ? `(${joined})` : joined;
  }
  if (expression.kind === 'symbol') return expression.name;
  if (expression.kind === 'quantity') return nameQuantity(expression);
  const { name, of } = expression;
  if (name === 'sine' || name === 'cosine' || name === 'tangent' || name === 'root') {
    const word = { sine: 'sin', cosine: 'cos', tangent: 'tan', root: 'sqrt' }[name];
    return `${word}(${of.map((part) => writePlain(part)).join(',')})`;
  }
  const [sign, own] = infix[name];
  const [left, right] = of;
  if (left === undefined || right === undefined) return '';
  const isNegated = name === 'subtract' && left.kind === 'number' && left.value.isZero;
  const before = isNegated ? '' : writePlain(left, own);
  const text = `${before}${sign}${writePlain(right, own + 1)}`;
  return own < level ? `(${text})` : text;
}

/** A measure as a person writes it: `AB`, `∠ABC`, `arc AB`, `area of ABCD`. */
export function nameQuantity({ name, points }: Quantity): string {
  const all = points.join('');
  const ends = points.slice(1).join('');
  return {
    length: all,
    angle: `∠${all}`,
    arc: `arc ${ends}`,
    arcLength: `length of arc ${ends}`,
    radius: `radius of circle ${all}`,
    diameter: `diameter of circle ${all}`,
    circumference: `circumference of circle ${all}`,
    circleArea: `area of circle ${all}`,
    perimeter: `perimeter of ${all}`,
    area: `area of ${all}`,
    height: `height of ${all}`,
    sectorArea: `area of sector ${all}`,
    sectorPerimeter: `perimeter of sector ${all}`,
  }[name];
}
