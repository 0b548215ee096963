/** Computes with points that have coordinates: VISTA-Gym's sympy_geometry. */
import { refused } from '@saccade/tools';
import { z } from 'zod';
import {
  coordinateFunctionNames,
  coordinateFunctions,
  rounded,
} from '../coordinates/coordinate-functions.ts';
import { defineVisionTool } from '../define-vision-tool.ts';
import { answered } from '../outcomes.ts';

export const sympyGeometry = defineVisionTool({
  name: 'sympy_geometry',
  description:
    'Computes with points given by coordinates [x, y]. Functions and their args: ' +
    'triangle_angle {A, B, C, vertex}, triangle_all_angles, triangle_area and triangle_type {A, B, C}, ' +
    'circle_from_points {p1, p2, p3}, inscribed_angle {radius, angle_degrees}, polygon_area {vertices}, ' +
    'angle_between_lines {p1, p2, p3, p4}, distance_point_to_line {point, line_p1, line_p2}, ' +
    'triangle_angle_from_two {angle1, angle2}, pythagorean {two of a, b, c}.',
  says: 'formulas in double precision, rounded to four decimals.',
  parameters: {
    function: z.enum(coordinateFunctionNames),
    args: z.record(z.string().max(40), z.unknown()).describe('Arguments of the function.'),
  },
  example: { function: 'pythagorean', args: { a: 3, b: 4 } },
  async embedded({ function: name, args }) {
    const { schema, compute } = coordinateFunctions[name];
    const checked = schema.safeParse(args);
    if (!checked.success) {
      const [issue] = checked.error.issues;
      const where = issue?.path.join('.') ?? '';
      const known = Object.keys(schema.shape).join(', ');
      const fault = where === '' ? `args: ${issue?.message}` : `args.${where}: ${issue?.message}`;
      return refused('BadArgument', `${fault}. ${name} takes ${known}.`);
    }
    const start = performance.now();
    const result = (compute as (given: unknown) => Readonly<Record<string, unknown>>)(checked.data);
    const lines = Object.entries(result).map(
      ([key, value]) => `${key}: ${JSON.stringify(rounded(value))}`,
    );
    const text = `SymPy Geometry Result:\n${lines.join('\n')}`;
    return answered(text, { ms: performance.now() - start });
  },
});
