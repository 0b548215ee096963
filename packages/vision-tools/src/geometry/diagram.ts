/** A diagram as it was read from pixels, and the statements that it makes. */
import { z } from 'zod';
import { CdlError } from './cdl/errors.ts';
import { expressionOf } from './cdl/expressions.ts';
import {
  type Equality,
  equality,
  type Point,
  quantity,
  type Relation,
  type Statement,
} from './cdl/statement.ts';
import { readTerm } from './cdl/term.ts';
import { constructionOf } from './construction/construction.ts';
import type { Drawing, Position } from './construction/drawing.ts';

const name = z.string().regex(/^[A-Z][0-9']*$/);
const place = z.tuple([z.number(), z.number()]);
const pair = z.tuple([name, name]);
const triple = z.tuple([name, name, name]);

/** The result of `operations/image_cdl.py`. */
const schema = z.object({
  points: z.record(name, place),
  lines: z.array(z.array(name).min(2)),
  circles: z.array(
    z.object({
      name: name.nullable(),
      center: place,
      radius: z.number().positive(),
      points: z.array(name),
    }),
  ),
  right: z.array(triple),
  ticks: z.array(
    z.object({ segment: pair, kind: z.enum(['tick', 'arrow']), count: z.int().min(1) }),
  ),
  arcs: z.array(z.object({ corner: triple, count: z.int().min(1) })),
  lengths: z.array(z.object({ segment: pair, text: z.string() })),
  angles: z.array(z.object({ corner: triple, text: z.string() })),
  unread: z.array(z.string()),
});

type Found = z.output<typeof schema>;

export interface Diagram {
  readonly drawing: Drawing;
  /** Lines, circles and faces. */
  readonly construction: readonly Statement[];
  /** Measures and marks that are written or drawn. */
  readonly marks: readonly Statement[];
  /** Texts that belong to nothing that was found. */
  readonly unread: readonly string[];
}

/** @throws ZodError if the operation gave something else */
export function diagramOf(result: unknown): Diagram {
  const found = schema.parse(result);
  const drawing = drawingOf(found);
  const unread: string[] = [...found.unread];
  const marks = [
    ...centers(found, drawing),
    ...measures(found, unread),
    ...found.right.map(perpendicular),
    ...equalSegments(found),
    ...parallels(found),
    ...equalAngles(found),
  ];
  return { drawing, construction: constructionOf(drawing), marks, unread };
}

function drawingOf({ points, lines, circles }: Found): Drawing {
  const places = new Map(
    Object.entries(points).map(([point, [x, y]]): [Point, Position] => [point, { x, y }]),
  );
  const used = new Set(places.keys());
  const drawn = circles.map((circle) => {
    const [x, y] = circle.center;
    return {
      name: circle.name ?? freeName(used),
      center: { x, y },
      radius: circle.radius,
      points: circle.points,
    };
  });
  return { points: places, lines, circles: drawn };
}

/** A circle without a letter is called O if nothing else is. */
function freeName(used: Set<string>): string {
  const free = ['O', 'P', 'Q', 'R', 'S'].find((one) => !used.has(one)) ?? 'O';
  used.add(free);
  return free;
}

function centers(found: Found, { circles }: Drawing): readonly Relation[] {
  return circles
    .filter((_circle, index) => found.circles[index]?.name !== null)
    .map((circle) => ({
      kind: 'relation',
      name: 'IsCentreOfCircle',
      groups: [[circle.name], [circle.name]],
    }));
}

/** FormalGeo's ∠ABC runs counterclockwise from BC to BA; corners come the other way around. */
function formal([from, vertex, to]: readonly [Point, Point, Point]): readonly [
  Point,
  Point,
  Point,
] {
  return [to, vertex, from];
}

function measures({ lengths, angles }: Found, unread: string[]): readonly Equality[] {
  const all = [
    ...lengths.map(({ segment, text }) => [quantity('length', segment), text] as const),
    ...angles.map(({ corner, text }) => [quantity('angle', formal(corner)), text] as const),
  ];
  return all.flatMap(([what, text]) => {
    try {
      return [equality(what, expressionOf(readTerm(text)))];
    } catch (error) {
      if (!(error instanceof CdlError)) throw error;
      unread.push(text);
      return [];
    }
  });
}

function perpendicular(corner: readonly [Point, Point, Point]): Relation {
  const [a, vertex, b] = formal(corner);
  return {
    kind: 'relation',
    name: 'PerpendicularBetweenLine',
    groups: [
      [a, vertex],
      [b, vertex],
    ],
  };
}

/** Segments with the same number of ticks. */
function equalSegments({ ticks }: Found): readonly Equality[] {
  return alike(
    ticks.filter(({ kind }) => kind === 'tick'),
    ({ count }) => count,
    ({ segment }) => quantity('length', segment),
  );
}

function alike<Mark>(
  marks: readonly Mark[],
  keyOf: (mark: Mark) => number,
  what: (mark: Mark) => ReturnType<typeof quantity>,
): readonly Equality[] {
  const groups = new Map<number, Mark[]>();
  for (const mark of marks) groups.set(keyOf(mark), [...(groups.get(keyOf(mark)) ?? []), mark]);
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : others.map((other) => equality(what(first), what(other))),
  );
}

/** Segments with the same number of arrows, written in the same direction. */
function parallels({ ticks, points }: Found): readonly Relation[] {
  const arrows = ticks.filter(({ kind }) => kind === 'arrow');
  return arrows.flatMap((first, index): readonly Relation[] => {
    const second = arrows.slice(index + 1).find(({ count }) => count === first.count);
    if (second === undefined) return [];
    const [a, b] = first.segment;
    const [c, d] = second.segment;
    const [u, v] = [step(points, a, b), step(points, c, d)];
    const isSame = u.x * v.x + u.y * v.y > 0;
    const groups = [[a, b], isSame ? [c, d] : [d, c]];
    return [{ kind: 'relation', name: 'ParallelBetweenLine', groups }];
  });
}

function step(points: Found['points'], a: Point, b: Point): Position {
  const [[ax, ay], [bx, by]] = [points[a] ?? [0, 0], points[b] ?? [0, 0]];
  return { x: bx - ax, y: by - ay };
}

/**
 * Angles with the same number of arcs and no measure. A single arc only marks where a measure stands,
 * and one that was not read would make two different angles equal.
 */
function equalAngles({ arcs, angles, unread }: Found): readonly Equality[] {
  const measured = new Set(angles.map(({ corner }) => corner.join(' ')));
  const open = arcs.filter(
    ({ corner, count }) => !measured.has(corner.join(' ')) && (count > 1 || unread.length === 0),
  );
  return alike(
    open,
    ({ count }) => count,
    ({ corner }) => quantity('angle', formal(corner)),
  );
}
