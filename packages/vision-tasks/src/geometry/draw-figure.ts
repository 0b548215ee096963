/** Draws a figure with its marks and the labels of what is given. */
import type { Random } from '@saccade/core';
import type { Box } from '@saccade/gym';
import { Drawing, type Paint } from '../rendering/drawing.ts';
import { angleBetween, distance, type Figure, isAngle, type Point, pointOf } from './figure.ts';
import type { FigureStyle } from './figure-style.ts';
import { Room, type Stroke } from './place-labels.ts';
import type { Quantity } from './relation.ts';

/** A drawn figure, with the boxes of its labels. */
export interface DrawnFigure {
  readonly drawing: Drawing;
  /** Where every point is; pixels. */
  readonly points: ReadonlyMap<string, Point>;
  /** The label of each given measure. */
  readonly labels: ReadonlyMap<Quantity, Box>;
  /** The name of each point. */
  readonly names: ReadonlyMap<string, Box>;
  /** Whether texts touch each other or the edge. */
  readonly isCrowded: boolean;
}

const margin = 56;
const arcRadius = 24;
/** Around a text, in which no line should be. */
const padding = 3;

/**
 * Draws a figure, turned and mirrored at random.
 *
 * @param side    the longer side of the image; pixels
 * @param labels  texts of given measures, to be written beside them
 */
export function drawFigure(
  original: Figure,
  labels: ReadonlyMap<Quantity, string>,
  style: FigureStyle,
  side: number,
  random: Random,
): DrawnFigure {
  const { figure, width, height } = fitToPage(original, side, random);
  const drawing = new Drawing(Math.round(width), Math.round(height), style.paper);
  const pen = new Pen(drawing, style, random);
  const strokes = figure.lines.map((line): Stroke => endsOf(figure, line));
  for (const [index, line] of figure.lines.entries()) {
    pen.line(...endsOf(figure, line), isInner(figure, index));
  }
  for (const { center, radius } of figure.circles) pen.circle(center, radius);
  const rings = figure.circles.flatMap(({ center, radius }) => ringOf(center, radius));
  const room = new Room([...strokes, ...rings, ...drawMarks(figure, pen)], width, height);
  for (const point of figure.points.values()) drawing.disk(...point, 3.2, { fill: style.ink });
  // Measures first: a name finds room anywhere around its point.
  const written = [...labels].map(([quantity, text]) => {
    if (isAngle(quantity)) pen.polyline(arcOf(figure, quantity, arcRadius));
    const places = isAngle(quantity)
      ? placesInAngle(figure, quantity, style.typeface.widthOf(text, style.size), style.size)
      : placesBeside(figure, quantity, style.size);
    const box = pen.text(text, room, places, style.label);
    return [quantity, box] as const;
  });
  const names = [...figure.points].map(([name, point]) => {
    return [name, pen.text(name, room, placesAround(figure, point), style.ink)] as const;
  });
  return {
    drawing,
    points: figure.points,
    labels: new Map(written),
    names: new Map(names),
    isCrowded: room.isCrowded,
  };
}

interface Page {
  readonly figure: Figure;
  readonly width: number;
  readonly height: number;
}

/** The figure in pixels: turned, perhaps mirrored, scaled to the page. */
function fitToPage(figure: Figure, side: number, random: Random): Page {
  const turn = random.uniform() * 2 * Math.PI;
  const mirror = random.pick([1, -1]);
  const turned = ([x, y]: Point): Point => [
    mirror * (x * Math.cos(turn) - y * Math.sin(turn)),
    x * Math.sin(turn) + y * Math.cos(turn),
  ];
  const corners = [...figure.points.values()].map(turned);
  for (const { center, radius } of figure.circles) {
    const [x, y] = turned(center);
    corners.push([x - radius, y - radius], [x + radius, y + radius]);
  }
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [spanX, spanY] = [Math.max(...xs) - left, Math.max(...ys) - top];
  const scale = (side - 2 * margin) / Math.max(spanX, spanY);
  const placed = (point: Point): Point => {
    const [x, y] = turned(point);
    return [margin + (x - left) * scale, margin + (y - top) * scale];
  };
  return {
    figure: {
      ...figure,
      points: new Map([...figure.points].map(([name, point]) => [name, placed(point)])),
      circles: figure.circles.map(({ center, radius }) => {
        return { center: placed(center), radius: radius * scale };
      }),
    },
    width: Math.round(spanX * scale + 2 * margin),
    height: Math.round(spanY * scale + 2 * margin),
  };
}

/** Whether a line may be dashed: the last one, where a figure has more than an outline. */
function isInner(figure: Figure, index: number): boolean {
  return figure.lines.length > 3 && index === figure.lines.length - 1;
}

function endsOf(figure: Figure, line: string): readonly [Point, Point] {
  return [pointOf(figure, line[0] ?? ''), pointOf(figure, line.at(-1) ?? '')];
}

/** A circle as short chords, for labels to keep off. */
function ringOf(center: Point, radius: number): readonly Stroke[] {
  const at = (step: number): Point => along(center, (step * Math.PI) / 18, radius);
  return Array.from({ length: 36 }, (_, step) => [at(step), at(step + 1)] as const);
}

/** Right angles, arrows and ticks; gives the strokes that labels should keep off. */
function drawMarks(figure: Figure, pen: Pen): readonly Stroke[] {
  const strokes: Stroke[] = [];
  for (const angle of figure.rightAngles) {
    const [a, vertex, b] = [...angle].map((name) => pointOf(figure, name)) as [Point, Point, Point];
    const [u, v] = [direction(vertex, a), direction(vertex, b)];
    const corner = along(along(vertex, u, 14), v, 14);
    pen.polyline([along(vertex, u, 14), corner, along(vertex, v, 14)]);
    strokes.push([vertex, corner]);
  }
  const marked = [
    ...figure.parallels.map((group) => [group, 7] as const),
    ...figure.equals.map((group) => [group, 0] as const),
  ];
  marked.forEach(([group, depth], index) => {
    for (const segment of group) {
      for (let mark = 0; mark <= index; mark++) {
        const chevron = chevronOn(figure, segment, depth, mark * 6);
        pen.polyline(chevron);
        strokes.push([chevron[0], chevron[2]]);
      }
    }
  });
  return strokes;
}

/** An arrow head across a segment, or a tick where its depth is 0. */
function chevronOn(
  figure: Figure,
  segment: string,
  depth: number,
  shift: number,
): readonly [Point, Point, Point] {
  const [from, to] = endsOf(figure, segment);
  const angle = direction(from, to);
  const length = distance(from, to);
  const at = (share: number) => along(from, angle, share * length);
  // Off the middle, where the label of a length stands, and off the points of the line.
  const isFree = (share: number) =>
    [...figure.points.values()].every((point) => distance(point, at(share)) > 26);
  const share = [0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.12, 0.88].find(isFree) ?? 0.4;
  const tip = along(at(share), angle, shift);
  const back = along(tip, angle, -depth);
  return [along(back, angle + Math.PI / 2, 6), tip, along(back, angle - Math.PI / 2, 6)];
}

const direction = (from: Point, to: Point): number => Math.atan2(to[1] - from[1], to[0] - from[0]);

function along([x, y]: Point, angle: number, length: number): Point {
  return [x + length * Math.cos(angle), y + length * Math.sin(angle)];
}

interface Corner {
  readonly vertex: Point;
  readonly start: number;
  /** Signed angle from the first ray to the second; radians. */
  readonly sweep: number;
}

function cornerOf(figure: Figure, quantity: Quantity): Corner {
  const [a, vertex, b] = [...quantity.slice(1)].map((name) => pointOf(figure, name));
  if (a === undefined || vertex === undefined || b === undefined) {
    throw new Error(`${quantity} is no angle.`);
  }
  const start = direction(vertex, a);
  const turn = direction(vertex, b) - start;
  const sign = Math.sin(turn) < 0 ? -1 : 1;
  return { vertex, start, sweep: sign * (angleBetween(a, vertex, b) * (Math.PI / 180)) };
}

function arcOf(figure: Figure, quantity: Quantity, radius: number): readonly Point[] {
  const { vertex, start, sweep } = cornerOf(figure, quantity);
  return Array.from({ length: 13 }, (_, i) => along(vertex, start + (sweep * i) / 12, radius));
}

/** Along the bisector, from the arc outward; a wide text needs to be farther from the vertex. */
function placesInAngle(
  figure: Figure,
  quantity: Quantity,
  width: number,
  size: number,
): readonly Point[] {
  const { vertex, start, sweep } = cornerOf(figure, quantity);
  const nearest = arcRadius + padding + Math.hypot(width, size) * 0.45;
  const shares = [0.5, 0.44, 0.56, 0.38, 0.62];
  return Array.from({ length: 20 }, (_, step) => nearest + step * 5).flatMap((far) =>
    shares.map((share) => along(vertex, start + sweep * share, far)),
  );
}

/** On both sides of a segment, near its middle. */
function placesBeside(figure: Figure, quantity: Quantity, size: number): readonly Point[] {
  const [from, to] = endsOf(figure, quantity);
  const angle = direction(from, to);
  const length = distance(from, to);
  return [0.8, 1, 1.2].flatMap((off) =>
    [0.5, 0.58, 0.66, 0.34].flatMap((share) =>
      [1, -1].map((hand) => {
        return along(along(from, angle, length * share), angle + (hand * Math.PI) / 2, off * size);
      }),
    ),
  );
}

/** All around a point; away from the middle of the figure first. */
function placesAround(figure: Figure, point: Point): readonly Point[] {
  const all = [...figure.points.values()];
  const mean = (axis: 0 | 1) => all.reduce((sum, other) => sum + other[axis], 0) / all.length;
  const outward = direction([mean(0), mean(1)], point);
  return [17, 21, 26].flatMap((far) =>
    [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7, 8].map((step) =>
      along(point, outward + (step * Math.PI) / 8, far),
    ),
  );
}

/** Draws lines as the style's hand draws them. */
class Pen {
  readonly #drawing: Drawing;
  readonly #style: FigureStyle;
  readonly #random: Random;

  constructor(drawing: Drawing, style: FigureStyle, random: Random) {
    this.#drawing = drawing;
    this.#style = style;
    this.#random = random;
  }

  line(from: Point, to: Point, isDashed: boolean): void {
    const steps = 8;
    const points = Array.from({ length: steps + 1 }, (_, step): Point => {
      const share = step / steps;
      const stray = step === 0 || step === steps ? 0 : this.#stray();
      const middle = along(from, direction(from, to), distance(from, to) * share);
      return along(middle, direction(from, to) + Math.PI / 2, stray);
    });
    const dashes: Paint =
      isDashed && this.#style.dashes ? { 'stroke-dasharray': this.#style.dashes } : {};
    this.polyline(points, { 'stroke-width': this.#style.line, ...dashes });
  }

  circle(center: Point, radius: number): void {
    const points = Array.from({ length: 72 }, (_, i) => {
      return along(center, (i * Math.PI) / 36, radius + this.#stray() * 0.4);
    });
    const first = points[0] ?? center;
    this.polyline([...points, first], { 'stroke-width': this.#style.line });
  }

  polyline(points: readonly Point[], paint: Paint = {}): void {
    const data = points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${x.toFixed(2)} ${y.toFixed(2)}`);
    this.#drawing.path(data.join(''), {
      fill: 'none',
      stroke: this.#style.ink,
      'stroke-width': 1.6,
      'stroke-linejoin': 'round',
      'stroke-linecap': 'round',
      ...paint,
    });
  }

  /** Writes a text at the least crowded of some places, and gives its box. */
  text(text: string, room: Room, places: readonly Point[], color: string): Box {
    const { typeface, size } = this.#style;
    const width = typeface.widthOf(text, size);
    const box = room.place(width + 2 * padding, size * 0.8 + 2 * padding, places);
    // Where it cannot keep off a line, the text still stands on paper.
    const halo = this.#style.paper;
    const style = { typeface, size, color, halo, anchor: 'middle' } as const;
    this.#drawing.text(text, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2 + size * 0.35, style);
    return box;
  }

  #stray(): number {
    return this.#style.jitter === 0 ? 0 : this.#random.normal() * this.#style.jitter * 0.6;
  }
}
