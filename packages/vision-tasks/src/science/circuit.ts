/**
 * Resistors in series and in parallel between two terminals.
 *
 * | operation    | answer                                                                     |
 * | ------------ | -------------------------------------------------------------------------- |
 * | `value`      | the resistance of the only resistor named, in ohms                         |
 * | `resistance` | between the terminals, in ohms, one decimal                                |
 * | `current`    | through the terminals at the last of `numbers` in volts, in milliamperes, one decimal |
 *
 * `of` names the resistors; parallel ones share a stage, which is the number after the point:
 * `R3.2` is in the second stage. `numbers` are their ohms.
 *
 *   R = Σ over stages of 1 / Σ 1/Rᵢ
 */
import type { Box, Split } from '@saccade/gym';
import { Drawing } from '../rendering/drawing.ts';
import type { MakeFigure, ScienceStyle } from './figure.ts';

/** Values of the E12 series; the held-out split has those that are not in E6. */
const series: Readonly<Record<Split, readonly number[]>> = {
  train: [10, 15, 22, 33, 47, 68],
  heldOut: [12, 18, 27, 39, 56, 82],
};
/** Stages in series by difficulty, and the most resistors in parallel. */
const stageCounts = { 1: 2, 2: 3, 3: 4 } as const;
const mostParallel = { 1: 2, 2: 2, 3: 3 } as const;
const operationsOf = {
  1: ['value', 'resistance'],
  2: ['value', 'resistance', 'current'],
  3: ['resistance', 'current'],
} as const;
const volts = { train: [3, 6, 12], heldOut: [5, 9, 24] } as const;
/** An answer is rounded to one decimal; intermediate rounding is forgiven. */
const ROUNDING = 0.005;

interface Resistor {
  readonly name: string;
  readonly stage: number;
  readonly ohms: number;
}

/** A circuit with a question. */
export const circuit: MakeFigure = (split, difficulty, style, random) => {
  const stages: Resistor[][] = [];
  let number = 0;
  for (let stage = 1; stage <= stageCounts[difficulty]; stage++) {
    const parallel = 1 + random.integer(mostParallel[difficulty]);
    stages.push(
      Array.from({ length: parallel }, () => {
        number++;
        const ohms = random.pick(series[split]) * random.pick([1, 10]);
        return { name: `R${number}`, stage, ohms };
      }),
    );
  }
  if (stages.every((stage) => stage.length === 1)) return undefined;
  const operation = random.pick(operationsOf[difficulty]);
  const { drawing, boxes } = drawCircuit(stages, style);
  const all = stages.flat();
  const volt = random.pick(volts[split]);
  const asked = operation === 'value' ? [random.pick(all)] : all;
  const total = stages.reduce(
    (sum, stage) => sum + 1 / stage.reduce((part, { ohms }) => part + 1 / ohms, 0),
    0,
  );
  const [question, answer] = {
    value: [`What is the resistance of ${asked[0]?.name} in ohms?`, String(asked[0]?.ohms)],
    resistance: [
      'What is the total resistance between A and B in ohms? Give one decimal.',
      total.toFixed(1),
    ],
    current: [
      `A battery of ${volt} V is connected to A and B. What current flows, in milliamperes? Give one decimal.`,
      ((1000 * volt) / total).toFixed(1),
    ],
  }[operation] as [string, string];
  return {
    drawing,
    question,
    answer,
    program: {
      operation,
      of: asked.map(({ name, stage }) => `${name}.${stage}`),
      numbers: [...asked.map(({ ohms }) => ohms), ...(operation === 'current' ? [volt] : [])],
    },
    evidence: asked.flatMap(({ name }) => {
      const box = boxes.get(name);
      return box === undefined ? [] : [{ name, box }];
    }),
    tolerance: operation === 'value' ? 0 : ROUNDING,
    source: 'generated; values of the E12 series (IEC 60063)',
  };
};

function drawCircuit(stages: readonly (readonly Resistor[])[], style: ScienceStyle) {
  const { width, height, size, ink } = style;
  const drawing = new Drawing(width, height, style.background);
  const boxes = new Map<string, Box>();
  const paint = { stroke: ink, 'stroke-width': 1.6 };
  const middle = height / 2;
  const margin = 3.4 * size;
  const pitch = (width - 2 * margin) / stages.length;
  const rise = Math.min(5 * size, height / 3.4);
  const label = { typeface: style.regular, size, color: ink, anchor: 'middle' as const };
  for (const [name, x] of [
    ['A', margin],
    ['B', width - margin],
  ] as const) {
    drawing.disk(x, middle, 4, { fill: style.accent });
    const beside = name === 'A' ? x - 1.4 * size : x + 1.4 * size;
    drawing.text(name, beside, middle + 0.35 * size, { ...label, typeface: style.bold });
  }
  stages.forEach((stage, index) => {
    const [start, end] = [margin + index * pitch, margin + (index + 1) * pitch];
    const [fork, join] = [start + 0.1 * pitch, end - 0.1 * pitch];
    const rows = stage.map((_, row) => middle + (row - (stage.length - 1) / 2) * rise);
    drawing.line([start, middle], [fork, middle], paint);
    drawing.line([join, middle], [end, middle], paint);
    for (const x of [fork, join]) {
      drawing.line([x, rows[0] ?? middle], [x, rows.at(-1) ?? middle], paint);
      if (stage.length > 1) drawing.disk(x, middle, 2.6, { fill: ink });
    }
    stage.forEach(({ name, ohms }, row) => {
      const y = rows[row] ?? middle;
      const center = (fork + join) / 2;
      const half = Math.min(0.25 * pitch, 3 * size);
      const body: Box = [center - half, y - 0.5 * size, center + half, y + 0.5 * size];
      drawing.line([fork, y], [join, y], paint);
      drawing.rectangle(body, { ...paint, fill: style.fill });
      const above = drawing.text(`${name} = ${ohms} ohm`, center, y - 0.9 * size, label);
      boxes.set(name, [
        Math.min(above[0], body[0]),
        above[1],
        Math.max(above[2], body[2]),
        body[3],
      ]);
    });
  });
  return { drawing, boxes };
}
