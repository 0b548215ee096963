/** Points of the plane as vectors: what random figures are built with. */
import type { Position } from '../construction/drawing.ts';

export function distance(a: Position, b: Position): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** The angle at the first position, in degrees, from 0 to 180. */
export function angleAt(vertex: Position, a: Position, b: Position): number {
  const [u, v] = [minus(a, vertex), minus(b, vertex)];
  return (Math.atan2(Math.abs(u.x * v.y - u.y * v.x), u.x * v.x + u.y * v.y) * 180) / Math.PI;
}

export function mix(a: Position, b: Position, t: number): Position {
  return { x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t };
}

export function plus(a: Position, b: Position): Position {
  return { x: a.x + b.x, y: a.y + b.y };
}

export function minus(a: Position, b: Position): Position {
  return { x: a.x - b.x, y: a.y - b.y };
}

export function scaled(a: Position, by: number): Position {
  return { x: a.x * by, y: a.y * by };
}

export function turned({ x, y }: Position, angle: number, by: number): Position {
  const [cosine, sine] = [Math.cos(angle) * by, Math.sin(angle) * by];
  return { x: x * cosine - y * sine, y: x * sine + y * cosine };
}

export function around(center: Position, radius: number, angle: number): Position {
  return plus(center, { x: radius * Math.cos(angle), y: radius * Math.sin(angle) });
}

export function footAt(p: Position, a: Position, b: Position): number {
  const [u, v] = [minus(b, a), minus(p, a)];
  return (u.x * v.x + u.y * v.y) / (u.x * u.x + u.y * u.y);
}

export function meetings(
  p: Position,
  angle: number,
  { center, radius }: { readonly center: Position; readonly radius: number },
): readonly Position[] {
  const way = { x: Math.cos(angle), y: Math.sin(angle) };
  const from = minus(p, center);
  const middle = from.x * way.x + from.y * way.y;
  const square = middle * middle - (from.x ** 2 + from.y ** 2 - radius ** 2);
  if (square < 0.2) return [];
  return [-middle - Math.sqrt(square), -middle + Math.sqrt(square)].map((t) =>
    plus(p, scaled(way, t)),
  );
}
