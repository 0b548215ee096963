/** A flame graph as SVG: a span lies under the one that it was in, as wide as its seconds. */
import { type ProfiledSpan, secondsOf } from '@saccade/core';
import { type Html, html } from '../html.ts';
import { describeSpan } from './numbers.ts';

const WIDTH = 1120;
const ROW = 22;
const GAP = 1;
/** Width of a character of the labels, at most, and the room left and right of one. */
const CHARACTER = 6.4;
const PADDING = 5;
/** Spans below this many units are not drawn: nobody could see or touch them. */
const LEAST = 1.5;

interface Frame {
  readonly span: ProfiledSpan;
  readonly left: number;
  readonly width: number;
  readonly depth: number;
}

/** The graph of a span and what is inside it; names what is too narrow to be drawn. */
export function drawFlame(root: ProfiledSpan, wholeSeconds: number): Html {
  const seconds = secondsOf(root);
  const frames = layOut(root, seconds);
  const height = (1 + Math.max(...frames.map(({ depth }) => depth))) * (ROW + GAP);
  const about = `${root.name}: ${describeSpan(root, wholeSeconds)}`;
  return html`<svg class="flame" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${about}">
${frames.map((frame) => drawFrame(frame, wholeSeconds))}
</svg>`;
}

function layOut(root: ProfiledSpan, seconds: number): readonly Frame[] {
  const frames: Frame[] = [];
  const place = (span: ProfiledSpan, left: number, depth: number): void => {
    const width = (WIDTH * secondsOf(span)) / seconds;
    if (!(width >= LEAST)) return;
    frames.push({ span, left, width, depth });
    let next = left;
    const inner = [...span.spans].sort((a, b) => secondsOf(b) - secondsOf(a));
    for (const one of inner) {
      place(one, next, depth + 1);
      next += (WIDTH * secondsOf(one)) / seconds;
    }
  };
  if (seconds > 0) place(root, 0, 0);
  return frames.length > 0 ? frames : [{ span: root, left: 0, width: WIDTH, depth: 0 }];
}

function drawFrame({ span, left, width, depth }: Frame, wholeSeconds: number): Html {
  const x = round(left);
  const y = depth * (ROW + GAP);
  const wide = Math.max(0.5, round(width - GAP));
  const label = labelOf(span, wide);
  return html`<g class="${colorOf(span)}"><title>${span.name}: ${describeSpan(span, wholeSeconds)}</title><rect x="${x}" y="${y}" width="${wide}" height="${ROW}" rx="2"/>${
    label !== '' && html`<text x="${round(left + PADDING)}" y="${y + 15}">${label}</text>`
  }</g>`;
}

/** As much of a span's name as fits: the part behind the slash says more than its group. */
function labelOf({ name }: ProfiledSpan, width: number): string {
  const room = Math.floor((width - 2 * PADDING) / CHARACTER);
  const short = name.slice(name.indexOf('/') + 1);
  const text = name.length <= room ? name : short;
  if (text.length <= room) return text;
  return room >= 4 ? `${text.slice(0, room - 1)}…` : '';
}

/** Groups with a color of their own, by the number of it. */
const COLORS: Readonly<Record<string, number>> = {
  kernels: 1,
  launches: 2,
  'tensor and tape': 3,
  sampling: 4,
  sandbox: 5,
  images: 6,
};

/** The class of a span's color. A color is never alone: each span has its name, or a title. */
export function colorOf({ name, kind }: Pick<ProfiledSpan, 'name' | 'kind'>): string {
  if (kind === 'stage') return 'span stage';
  if (kind === 'wait') return 'span idle';
  const group = name.split('/')[0] as string;
  if (group === 'other JavaScript') return 'span other';
  return `span part-${COLORS[group] ?? 7}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
