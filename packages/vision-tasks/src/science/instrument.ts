/**
 * A measuring instrument with a reading: a dial, a thermometer, or a ruler beside a bar.
 *
 * `read` is the value that the pointer, the column or the end of the bar shows: `numbers` are the
 * first and the last value of the scale, the step from tick to tick, and the reading. On a ruler of
 * difficulty 2 and 3 the bar does not start at 0, so its length is a difference (`length`).
 */
import type { Random } from '@saccade/core';
import type { Box, Split } from '@saccade/gym';
import { Drawing } from '../rendering/drawing.ts';
import type { MakeFigure, ScienceStyle } from './figure.ts';

/** A scale: what it measures, its first and last value, the step of numbers, and ticks per step. */
interface Scale {
  readonly kind: 'dial' | 'thermometer' | 'ruler';
  readonly measure: string;
  readonly unit: string;
  /** The unit in a question. */
  readonly units: string;
  readonly first: number;
  readonly last: number;
  readonly step: number;
  readonly ticks: number;
}

const scale = (
  kind: Scale['kind'],
  measure: string,
  unit: string,
  [first, last, step, ticks]: readonly [number, number, number, number],
): Scale => {
  const units = unit === 'inch' ? 'inches' : unit;
  return { kind, measure, unit, units, first, last, step, ticks };
};

/** By split and difficulty 1 to 3: more and finer ticks. No scale is in both splits. */
const scales: Readonly<Record<Split, readonly (readonly Scale[])[]>> = {
  train: [
    [
      scale('dial', 'voltage', 'V', [0, 10, 2, 2]),
      scale('thermometer', 'temperature', '°C', [0, 50, 10, 5]),
      scale('ruler', 'length of the bar', 'cm', [0, 8, 1, 2]),
    ],
    [
      scale('dial', 'voltage', 'V', [0, 20, 5, 5]),
      scale('thermometer', 'temperature', '°C', [-20, 50, 10, 10]),
      scale('ruler', 'length of the bar', 'cm', [0, 10, 1, 5]),
    ],
    [
      scale('dial', 'voltage', 'V', [0, 50, 5, 10]),
      scale('thermometer', 'temperature', '°C', [34, 42, 1, 10]),
      scale('ruler', 'length of the bar', 'cm', [0, 14, 1, 10]),
    ],
  ],
  heldOut: [
    [
      scale('dial', 'pressure', 'bar', [0, 6, 1, 2]),
      scale('thermometer', 'temperature', '°F', [20, 120, 20, 4]),
      scale('ruler', 'length of the bar', 'inch', [0, 5, 1, 4]),
    ],
    [
      scale('dial', 'pressure', 'bar', [0, 16, 2, 4]),
      scale('thermometer', 'temperature', '°F', [0, 100, 10, 5]),
      scale('ruler', 'length of the bar', 'cm', [0, 12, 1, 4]),
    ],
    [
      scale('dial', 'pressure', 'bar', [0, 25, 5, 20]),
      scale('thermometer', 'temperature', '°F', [94, 108, 2, 10]),
      scale('ruler', 'length of the bar', 'cm', [0, 20, 2, 20]),
    ],
  ],
};

/** The bar of a ruler covers at least this share of it. */
const LEAST_BAR = 0.3;

/** An instrument with a question. */
export const instrument: MakeFigure = (split, difficulty, style, random) => {
  const found = random.pick(scales[split][difficulty - 1] ?? []);
  const count = Math.round(((found.last - found.first) / found.step) * found.ticks);
  const one = found.step / found.ticks;
  const valueAt = (tick: number): number => Number((found.first + tick * one).toFixed(4));
  const drawing = new Drawing(style.width, style.height, style.background);
  const isOffset = found.kind === 'ruler' && difficulty > 1;
  const start = isOffset ? 1 + random.integer(Math.floor(count * (1 - LEAST_BAR)) - 1) : 0;
  const least = start + (found.kind === 'ruler' ? Math.ceil(count * LEAST_BAR) : 1);
  const end = least + random.integer(count - least + (found.kind === 'ruler' ? 1 : 0));
  const parts = { drawing, style, scale: found, count, valueAt };
  const box =
    found.kind === 'dial'
      ? drawDial(parts, end)
      : found.kind === 'thermometer'
        ? drawThermometer(parts, end, random)
        : drawRuler(parts, start, end, random);
  const answer = Number((valueAt(end) - (isOffset ? valueAt(start) : 0)).toFixed(4));
  return {
    drawing,
    question: `What is the ${found.measure} in ${found.units}? Read to the nearest tick.`,
    answer: String(answer),
    program: {
      operation: isOffset ? 'length' : 'read',
      of: [found.kind],
      numbers: [found.first, found.last, one, ...(isOffset ? [valueAt(start)] : []), valueAt(end)],
    },
    evidence: [{ name: found.kind, box }],
    tolerance: 0,
    source: 'generated; no outside data',
  };
};

interface Parts {
  readonly drawing: Drawing;
  readonly style: ScienceStyle;
  readonly scale: Scale;
  /** Ticks from the first value to the last. */
  readonly count: number;
  valueAt(tick: number): number;
}

/** A round scale from 135° left of the top to 135° right of it; gives the pointer's box. */
function drawDial({ drawing, style, scale, count, valueAt }: Parts, reading: number): Box {
  const { width, height, size, ink } = style;
  const [x, y, radius] = [width / 2, height / 2, 0.4 * height];
  drawing.disk(x, y, radius, { fill: style.fill, stroke: ink, 'stroke-width': 2 });
  const at = (tick: number, share: number): readonly [number, number] => {
    const angle = ((tick / count) * 270 - 135) * (Math.PI / 180);
    return [x + Math.sin(angle) * radius * share, y - Math.cos(angle) * radius * share];
  };
  for (let tick = 0; tick <= count; tick++) {
    const isNumbered = tick % scale.ticks === 0;
    const paint = { stroke: ink, 'stroke-width': isNumbered ? 2 : 1 };
    drawing.line(at(tick, 0.95), at(tick, isNumbered ? 0.84 : 0.89), paint);
    if (!isNumbered) continue;
    // Outside of the ring, where the pointer covers no number.
    const [left, top] = at(tick, 1 + (1.2 * size) / radius);
    drawing.text(String(valueAt(tick)), left, top + 0.35 * size, {
      typeface: style.regular,
      size,
      color: ink,
      anchor: 'middle',
    });
  }
  const unit = { typeface: style.bold, size: 1.3 * size, color: ink, anchor: 'middle' as const };
  drawing.text(scale.unit, x, y + 0.5 * radius, unit);
  const tip = at(reading, 0.93);
  drawing.line([x, y], tip, { stroke: style.accent, 'stroke-width': 2 });
  drawing.disk(x, y, 6, { fill: style.accent });
  return [
    Math.min(x, tip[0]) - 3,
    Math.min(y, tip[1]) - 3,
    Math.max(x, tip[0]) + 3,
    Math.max(y, tip[1]) + 3,
  ];
}

/** An upright tube; gives the box around the top of its column and the ticks beside it. */
function drawThermometer(
  { drawing, style, scale, count, valueAt }: Parts,
  reading: number,
  random: Random,
): Box {
  const { width, height, size, ink } = style;
  const x = width * (0.3 + 0.4 * random.uniform());
  const [top, bottom, half] = [0.08 * height, 0.8 * height, 0.5 * size];
  const at = (tick: number): number => bottom - (tick / count) * (bottom - top);
  const glass = { fill: '#ffffff', stroke: ink, 'stroke-width': 1.5 };
  drawing.rectangle([x - half, top - size, x + half, bottom + 2 * size], { ...glass, rx: half });
  drawing.disk(x, bottom + 2.4 * size, 1.3 * size, { fill: style.accent, stroke: ink });
  const column: Box = [x - 0.55 * half, at(reading), x + 0.55 * half, bottom + 2 * size];
  drawing.rectangle(column, { fill: style.accent });
  for (let tick = 0; tick <= count; tick++) {
    const isNumbered = tick % scale.ticks === 0;
    const long = isNumbered ? 1.3 * size : 0.7 * size;
    const paint = { stroke: ink, 'stroke-width': isNumbered ? 1.6 : 0.8 };
    drawing.line([x + half, at(tick)], [x + half + long, at(tick)], paint);
    if (!isNumbered) continue;
    const label = { typeface: style.regular, size, color: ink };
    drawing.text(String(valueAt(tick)), x + half + 1.7 * size, at(tick) + 0.35 * size, label);
  }
  const unit = { typeface: style.bold, size: 1.2 * size, color: ink, anchor: 'end' as const };
  drawing.text(scale.unit, x - 1.5 * size, top + size, unit);
  return [x - half, at(reading) - 2 * size, x + half + 4 * size, at(reading) + 2 * size];
}

/** A ruler with a bar above it; gives the bar's box with the ticks below. */
function drawRuler(
  { drawing, style, scale, count, valueAt }: Parts,
  start: number,
  end: number,
  random: Random,
): Box {
  const { width, height, size, ink } = style;
  const [left, right] = [0.07 * width, 0.93 * width];
  const y = height * (0.4 + 0.2 * random.uniform());
  const at = (tick: number): number => left + (tick / count) * (right - left);
  drawing.rectangle([left - size, y, right + size, y + 4 * size], {
    fill: style.fill,
    stroke: ink,
  });
  for (let tick = 0; tick <= count; tick++) {
    const isNumbered = tick % scale.ticks === 0;
    const paint = { stroke: ink, 'stroke-width': isNumbered ? 1.6 : 0.8 };
    drawing.line([at(tick), y], [at(tick), y + (isNumbered ? 1.4 : 0.8) * size], paint);
    if (!isNumbered) continue;
    const label = { typeface: style.regular, size, color: ink, anchor: 'middle' as const };
    drawing.text(String(valueAt(tick)), at(tick), y + 2.6 * size, label);
  }
  const unit = { typeface: style.bold, size, color: ink, anchor: 'end' as const };
  drawing.text(scale.unit, right, y + 3.7 * size, unit);
  drawing.rectangle([at(start), y - 2.6 * size, at(end), y - 0.2 * size], { fill: style.accent });
  return [at(start), y - 2.6 * size, at(end), y + 3 * size];
}
