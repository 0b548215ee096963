/** Figures of plane geometry whose truth is known, and how they are laid out to be drawn. */

import type { Point, Statement } from '../../geometry/cdl/statement.ts';
import { constructionOf } from '../../geometry/construction/construction.ts';
import { type Drawing, heading, type Position } from '../../geometry/construction/drawing.ts';

/** A figure in its own units, y upwards, before it is turned and scaled onto an image. */
export interface Scene {
  readonly name: string;
  readonly points: Readonly<Record<Point, readonly [x: number, y: number]>>;
  /** Points in order along each straight stroke, such as `ADB`. */
  readonly lines: readonly string[];
  /** Circles by the letter of their center, with their radius. */
  readonly circles?: Readonly<Record<Point, number>>;
  /** Points that are drawn as dots. */
  readonly dots?: string;
  /** Corners with a small square, such as `ABC`. */
  readonly right?: readonly string[];
  /** Segments with ticks: those of one entry are equal. */
  readonly ticks?: readonly (readonly string[])[];
  /** Segments with arrows: those of one entry are parallel. */
  readonly arrows?: readonly (readonly string[])[];
  /** Texts beside segments, and inside corners. */
  readonly lengths?: Readonly<Record<string, string>>;
  readonly angles?: Readonly<Record<string, string>>;
  /** A question about it, with its answer. */
  readonly question: string;
  readonly answer: number;
}

export interface Style {
  readonly font: string;
  readonly fontSize: number;
  readonly stroke: number;
  readonly ink: readonly number[];
  readonly paper: readonly number[];
  readonly wobble: number;
  readonly blur: number;
  readonly noise: number;
}

/** A scene on its image: what is drawn, and the drawing that a reader should find. */
export interface Laid {
  readonly params: Readonly<Record<string, unknown>>;
  readonly drawing: Drawing;
  readonly scene: Scene;
}

/** The construction that the image shows. */
export function constructionTruth({ drawing }: Laid): readonly Statement[] {
  return constructionOf(drawing);
}

const padding = 70;

/** Turns, scales and draws a scene, with letters and measures beside what they name. */
export function layOut(scene: Scene, style: Style, random: () => number, seed: number): Laid {
  const turn = (random() - 0.5) * 0.9;
  const mirror = random() < 0.5 ? -1 : 1;
  const size = 330 + 260 * random();
  const turned = new Map(
    Object.entries(scene.points).map(([name, [x, y]]): [Point, Position] => {
      const [u, v] = [x * mirror, y];
      return [
        name,
        {
          x: u * Math.cos(turn) - v * Math.sin(turn),
          y: -(u * Math.sin(turn) + v * Math.cos(turn)),
        },
      ];
    }),
  );
  const reach = extent(turned, scene.circles ?? {});
  const scale = size / Math.max(reach.right - reach.left, reach.bottom - reach.top);
  const place = ({ x, y }: Position): Position => ({
    x: padding + (x - reach.left) * scale,
    y: padding + (y - reach.top) * scale,
  });
  const points = new Map([...turned].map(([name, at]) => [name, place(at)]));
  const lines = scene.lines.map((line) => [...line]);
  const circles = Object.entries(scene.circles ?? {}).map(([name, radius]) => {
    const center = points.get(name) ?? { x: 0, y: 0 };
    const on = [...points].filter(
      ([, at]) =>
        Math.abs(Math.hypot(at.x - center.x, at.y - center.y) - radius * scale) < 1e-6 * scale,
    );
    return { name, center, radius: radius * scale, points: on.map(([point]) => point) };
  });
  const drawing: Drawing = { points, lines, circles };
  const width = Math.round((reach.right - reach.left) * scale + 2 * padding);
  const height = Math.round((reach.bottom - reach.top) * scale + 2 * padding);
  const params = { seed, width, height, style, ...new Pen(scene, drawing, style).strokes() };
  return { params, drawing, scene };
}

function extent(
  points: ReadonlyMap<Point, Position>,
  circles: Readonly<Record<Point, number>>,
): { left: number; right: number; top: number; bottom: number } {
  const xs: number[] = [];
  const ys: number[] = [];
  for (const [name, { x, y }] of points) {
    const radius = circles[name] ?? 0;
    xs.push(x - radius, x + radius);
    ys.push(y - radius, y + radius);
  }
  return {
    left: Math.min(...xs),
    right: Math.max(...xs),
    top: Math.min(...ys),
    bottom: Math.max(...ys),
  };
}

interface Text {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly size: number;
}

/** Strokes and texts of a drawing in pixels. */
class Pen {
  private readonly scene: Scene;
  private readonly drawing: Drawing;
  private readonly style: Style;
  private readonly lines: (readonly number[])[] = [];
  private readonly arcs: (readonly number[])[] = [];
  private readonly texts: Text[] = [];

  constructor(scene: Scene, drawing: Drawing, style: Style) {
    this.scene = scene;
    this.drawing = drawing;
    this.style = style;
  }

  strokes(): Readonly<Record<string, unknown>> {
    for (const line of this.drawing.lines) {
      const [a, b] = [this.at(line[0] ?? ''), this.at(line.at(-1) ?? '')];
      this.lines.push([a.x, a.y, b.x, b.y]);
    }
    for (const corner of this.scene.right ?? []) this.square(corner);
    for (const [index, group] of (this.scene.ticks ?? []).entries()) {
      for (const segment of group) this.tick(segment, index + 1, false);
    }
    for (const [index, group] of (this.scene.arrows ?? []).entries()) {
      for (const segment of group) this.tick(segment, index + 1, true);
    }
    for (const [corner, text] of Object.entries(this.scene.angles ?? {})) this.angle(corner, text);
    for (const [segment, text] of Object.entries(this.scene.lengths ?? {}))
      this.length(segment, text);
    for (const name of this.drawing.points.keys()) this.letter(name);
    const dots = [...(this.scene.dots ?? '')].map((name) => [this.at(name).x, this.at(name).y]);
    const circles = this.drawing.circles.map(({ center, radius }) => [center.x, center.y, radius]);
    return { lines: this.lines, arcs: this.arcs, texts: this.texts, circles, dots };
  }

  private at(name: Point): Position {
    return this.drawing.points.get(name) ?? { x: 0, y: 0 };
  }

  private three(corner: string): readonly [Position, Position, Position] {
    const [a = '', b = '', c = ''] = corner;
    return [this.at(a), this.at(b), this.at(c)];
  }

  private square(corner: string): void {
    const [a, b, c] = this.three(corner);
    const [u, v] = [unit(b, a), unit(b, c)];
    const size = 11 + 2.2 * this.style.stroke;
    const [p, q] = [along(b, u, size), along(b, v, size)];
    const tip = along(p, v, size);
    this.lines.push([p.x, p.y, tip.x, tip.y], [tip.x, tip.y, q.x, q.y]);
  }

  private tick(segment: string, count: number, isArrow: boolean): void {
    const [a = '', b = ''] = segment;
    const [from, to] = [this.at(a), this.at(b)];
    const way = unit(from, to);
    const across = { x: -way.y, y: way.x };
    const half = 5 + 1.3 * this.style.stroke;
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    for (let index = 0; index < count; index++) {
      const shift = (index - (count - 1) / 2) * (4 + 2.4 * this.style.stroke);
      const middle = along(from, way, length / 2 + shift);
      for (const side of [1, -1]) {
        const back = isArrow ? along(middle, way, -half) : middle;
        const end = along(back, across, side * half);
        this.lines.push([middle.x, middle.y, end.x, end.y]);
      }
    }
  }

  private angle(corner: string, text: string): void {
    const [a, b, c] = this.three(corner);
    const [first, second] = [heading(b, a), heading(b, c)];
    const sweep = turnBetween(first, second);
    const [start, size] = sweep < Math.PI ? [first, sweep] : [second, 2 * Math.PI - sweep];
    const radius = 20 + 2 * this.style.stroke;
    const degrees = (angle: number): number => (angle * 180) / Math.PI;
    this.arcs.push([b.x, b.y, radius, degrees(start), degrees(start + size)]);
    const wide = (text.length * this.style.fontSize) / 2;
    // In a narrow angle the text moves out until it fits between the rays.
    const needed = (0.5 * wide + 0.45 * this.style.fontSize) / Math.max(Math.sin(size / 2), 0.2);
    const far = Math.max(radius + 0.45 * wide + 7, needed * 0.85);
    const way = start + size / 2;
    this.write(text, b.x + far * Math.cos(way), b.y - far * Math.sin(way));
  }

  private length(segment: string, text: string): void {
    const [a = '', b = ''] = segment;
    const [from, to] = [this.at(a), this.at(b)];
    const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
    const way = unit(from, to);
    const { fontSize } = this.style;
    const half = (Math.abs(way.y) * text.length * fontSize * 0.58 + Math.abs(way.x) * fontSize) / 2;
    const offset = half + 5 + this.style.stroke;
    const sides = [1, -1].map((side) => along(middle, { x: -way.y, y: way.x }, side * offset));
    const [best] = sides.sort((p, q) => this.clearance(q) - this.clearance(p));
    if (best !== undefined) this.write(text, best.x, best.y);
  }

  /** How far a place is from what is drawn, points and texts; more is better up to a limit. */
  private clearance(place: Position): number {
    let least = 60;
    const reach = (at: Position, by = 1): void => {
      least = Math.min(least, by * Math.hypot(at.x - place.x, at.y - place.y));
    };
    for (const text of this.texts) reach(text, 0.6);
    for (const at of this.drawing.points.values()) reach(at);
    for (const line of this.drawing.lines) {
      const [a, b] = [this.at(line[0] ?? ''), this.at(line.at(-1) ?? '')];
      reach(nearest(place, a, b), 1.2);
    }
    for (const { center, radius } of this.drawing.circles) {
      least = Math.min(
        least,
        1.2 * Math.abs(Math.hypot(center.x - place.x, center.y - place.y) - radius),
      );
    }
    return least;
  }

  /** In the largest gap between the strokes at a point. */
  private letter(name: Point): void {
    const at = this.at(name);
    const distance = 9 + 0.55 * this.style.fontSize + this.style.stroke;
    let best: { readonly place: Position; readonly score: number } | undefined;
    for (let step = 0; step < 32; step++) {
      const angle = (step * Math.PI) / 16;
      const place = { x: at.x + distance * Math.cos(angle), y: at.y - distance * Math.sin(angle) };
      const score = this.clearance(place);
      if (best === undefined || score > best.score + 1e-9) best = { place, score };
    }
    if (best !== undefined) this.write(name, best.place.x, best.place.y);
  }

  private write(text: string, x: number, y: number): void {
    this.texts.push({ x, y, text, size: this.style.fontSize });
  }
}

function turnBetween(from: number, to: number): number {
  return (((to - from) % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI);
}

function unit(from: Position, to: Position): Position {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  return { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
}

function along(from: Position, way: Position, by: number): Position {
  return { x: from.x + way.x * by, y: from.y + way.y * by };
}

function nearest(p: Position, a: Position, b: Position): Position {
  const [u, v] = [b.x - a.x, b.y - a.y];
  const t = ((p.x - a.x) * u + (p.y - a.y) * v) / (u * u + v * v);
  const clamped = Math.min(1, Math.max(0, t));
  return { x: a.x + clamped * u, y: a.y + clamped * v };
}
