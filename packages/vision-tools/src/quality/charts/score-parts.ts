/** How right marks and texts are that were found in a chart. */
import { boxOverlap, type Scores } from '../quality.ts';
import type { ChartCase } from './cases.ts';
import { isSameLabel } from './labels.ts';

type Box = readonly [number, number, number, number];

/** Attributes of the elements of an SVG that have a certain name. */
export function elementsOf(svg: string, name: string): readonly Readonly<Record<string, string>>[] {
  return [...svg.matchAll(new RegExp(`<${name} ([^>]*?)/?>([^<]*)`, 'g'))].map((match) => ({
    ...Object.fromEntries(
      [...(match[1] ?? '').matchAll(/([\w-]+)="([^"]*)"/g)].map((one) => [one[1] ?? '', one[2] ?? '']),
    ),
    text: (match[2] ?? '').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  }));
}

/** `bars`: F1 of bars by boxes that overlap by 0.7; `points`: F1 of centers within 3 pixels. */
export function markScores(svg: string, { marks }: ChartCase): Scores {
  const bars = marks.flatMap(({ box }) => (box !== undefined && isVisible(box) ? [box] : []));
  const points = marks.flatMap(({ at }) => at ?? []);
  const centers = points.filter((_, index) => index % 2 === 0).length;
  if (bars.length > 0) {
    const found = elementsOf(svg, 'rect')
      .filter((one) => one.class === 'bar')
      .map(boxOfRect);
    return { bars: f1(found, bars, (a, b) => boxOverlap(a, b) >= 0.7) };
  }
  if (centers === 0) return {};
  const truth = marks.flatMap(({ at }) => (at === undefined ? [] : [at]));
  const found = elementsOf(svg, 'circle')
    .filter((one) => one.class === 'point')
    .map(({ cx, cy }) => [Number(cx), Number(cy)] as const);
  return { points: f1(found, truth, (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) <= 3) };
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
export function f1<Found, Truth>(
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
 * Of the texts in the chart: `texts` are read right, `roles` have also the right role. Numbers are
 * compared as numbers.
 */
export function textScores(svg: string, { texts }: ChartCase): Scores {
  const found = elementsOf(svg, 'text').map((one) => ({ text: one.text ?? '', role: one.class ?? '' }));
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
  const [a, b] = [read, truth].map((text) => Number(text.replaceAll(/[,\s]/g, '').replace('−', '-')));
  return a !== undefined && !Number.isNaN(a) && a === b;
}
