/** How right marks and texts are that were found in a chart. */
import { boxOverlap, type Scores } from '../quality.ts';
import type { ChartCase } from './cases.ts';
import { isSameLabel } from './labels.ts';

type Box = readonly [number, number, number, number];
type Place = readonly [x: number, y: number];

/** Attributes of the elements of an SVG that have a certain name. */
export function elementsOf(svg: string, name: string): readonly Readonly<Record<string, string>>[] {
  return [...svg.matchAll(new RegExp(`<${name} ([^>]*?)/?>([^<]*)`, 'g'))].map((match) => ({
    ...Object.fromEntries(
      [...(match[1] ?? '').matchAll(/([\w-]+)="([^"]*)"/g)].map((one) => [
        one[1] ?? '',
        one[2] ?? '',
      ]),
    ),
    text: (match[2] ?? '').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  }));
}

/**
 * `bars`: F1 of bars by boxes that overlap by 0.7; `points`: F1 of centers within 3 pixels; `lines`: share
 * of the corners of lines that a line runs past within 3 pixels.
 */
export function markScores(svg: string, { marks }: ChartCase): Scores {
  const bars = marks.flatMap(({ box }) => (box !== undefined && isVisible(box) ? [box] : []));
  const corners = marks.flatMap(({ points = [] }) => points);
  if (corners.length > 0) {
    const lines = elementsOf(svg, 'polyline').map(({ points = '' }) => pointsOf(points));
    return { lines: shareNear(corners, lines) };
  }
  if (bars.length > 0) {
    const found = elementsOf(svg, 'rect')
      .filter((one) => one.class === 'bar')
      .map(boxOfRect);
    return { bars: f1(found, bars, (a, b) => boxOverlap(a, b) >= 0.7) };
  }
  const truth = marks.flatMap(({ at }) => (at === undefined ? [] : [at]));
  const found = elementsOf(svg, 'circle')
    .filter((one) => one.class === 'point')
    .map(({ cx, cy }) => [Number(cx), Number(cy)] as const);
  return { points: f1(found, truth, (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) <= 3) };
}

/** Pairs of numbers as SVG writes them. */
export function pointsOf(text: string): readonly Place[] {
  return text.split(' ').map((pair) => {
    const [x = Number.NaN, y = Number.NaN] = pair.split(',').map(Number);
    return [x, y];
  });
}

/** The share of places that one of the chains of segments passes within 3 pixels. */
export function shareNear(places: readonly Place[], chains: readonly (readonly Place[])[]): number {
  const isNear = (place: Place): boolean =>
    chains.some((chain) =>
      chain.some((end, index) => distanceTo(place, chain[index - 1] ?? end, end) <= 3),
    );
  return places.filter(isNear).length / Math.max(1, places.length);
}

function distanceTo([x, y]: Place, [ax, ay]: Place, [bx, by]: Place): number {
  const [u, v] = [bx - ax, by - ay];
  const along = ((x - ax) * u + (y - ay) * v) / Math.max(u * u + v * v, 1e-9);
  const t = Math.min(1, Math.max(0, along));
  return Math.hypot(x - ax - t * u, y - ay - t * v);
}

/** A bar of at least two pixels on each side. */
function isVisible([left, top, right, bottom]: Box): boolean {
  return right - left >= 2 && bottom - top >= 2;
}

function boxOfRect({ x, y, width, height }: Readonly<Record<string, string>>): Box {
  const [left, top] = [Number(x), Number(y)];
  return [left, top, left + Number(width), top + Number(height)];
}

/** The harmonic mean of precision and recall, each element matched once. */
function f1<Found, Truth>(
  found: readonly Found[],
  truth: readonly Truth[],
  isMatch: (found: Found, truth: Truth) => boolean,
): number {
  const used = new Set<number>();
  for (const one of truth) {
    const index = found.findIndex((candidate, at) => !used.has(at) && isMatch(candidate, one));
    if (index >= 0) used.add(index);
  }
  return found.length + truth.length === 0 ? 1 : (2 * used.size) / (found.length + truth.length);
}

const rolesOf: Readonly<Record<string, readonly string[]>> = {
  title: ['title'],
  axis_title: ['x_title', 'y_title'],
  tick: ['x_tick', 'y_tick', 'tick', 'category'],
  legend: ['legend'],
};

/**
 * Shares of the texts in the chart: `texts` are read right, `roles` also have the right role.
 * Numbers are compared as numbers.
 */
export function textScores(svg: string, { texts }: ChartCase): Scores {
  const found = elementsOf(svg, 'text').map((one) => ({
    text: one.text ?? '',
    role: one.class ?? '',
  }));
  const used = new Set<number>();
  const matches = texts.map(({ text, role }) => {
    const same = found.flatMap((one, index) =>
      !used.has(index) && isSameText(one.text, text) ? [index] : [],
    );
    const right = same.find((index) => rolesOf[role]?.includes(found[index]?.role ?? '') === true);
    const index = right ?? same[0];
    if (index !== undefined) used.add(index);
    return { isRead: index !== undefined, isRight: right !== undefined };
  });
  const share = (count: number): number => count / Math.max(1, texts.length);
  return {
    texts: share(matches.filter(({ isRead }) => isRead).length),
    roles: share(matches.filter(({ isRight }) => isRight).length),
  };
}

function isSameText(read: string, truth: string): boolean {
  if (isSameLabel(read, truth)) return true;
  const [a, b] = [read, truth].map((text) =>
    Number(text.replaceAll(/[,\s]/g, '').replace('−', '-')),
  );
  return a !== undefined && !Number.isNaN(a) && a === b;
}
