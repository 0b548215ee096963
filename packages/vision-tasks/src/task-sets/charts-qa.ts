/**
 * `charts-qa`: questions about charts of real tables.
 *
 * Bars, grouped and stacked bars, lines and pies. A question's answer follows from the table by the
 * program in its metadata. Entities, styles and typefaces of the held-out split are not in train.
 */
import { randomAt } from '@saccade/core';
import { choice, type SettingsOf, textList } from '@saccade/core/settings';
import { type Box, defineTaskSet, type Split, type Task } from '@saccade/gym';
import { z } from 'zod';
import { chartStyle } from '../charts/chart-style.ts';
import { drawChart } from '../charts/draw-chart.ts';
import { type ChartKind, chartKinds, planChart } from '../charts/plan-chart.ts';
import { askChart, type Cell, type ChartProgram } from '../charts/program.ts';
import { tablesOf } from '../charts/tables.ts';
import { boxAround } from '../rendering/drawing.ts';
import { checkDifficulties, difficultySettings, drawLevel, someOf } from './difficulty.ts';

const settings = z.strictObject({
  ...difficultySettings(
    'tables, styles and questions',
    'more marks, larger images and more steps',
    4,
  ),
  kinds: textList({
    unit: 'kinds of charts',
    about: 'Some of bars, grouped, lines, pie and stacked; none means all.',
  }),
  labels: choice(['some', 'always', 'never'], {
    default: 'some',
    about: 'Whether values are written beside bars and points; pies and stacks always have them.',
  }),
});

type ChartOptions = SettingsOf<typeof settings>;

/** Facts of a task, in its metadata. */
export interface ChartFacts {
  readonly family: 'charts-qa';
  readonly kind: ChartKind;
  /** 1 to 4. */
  readonly difficulty: number;
  /** Tools without which the overview is too coarse. */
  readonly requiredTools: readonly string[];
  /** Around the evidence; pixels. */
  readonly box: Box;
  /** The marks that the answer follows from, with the values beside them. */
  readonly evidence: readonly (Cell & { readonly box: Box })[];
  readonly table: string;
  readonly program: ChartProgram;
  /** Largest relative error of a right answer: 0.05 where a value is read off an axis, else 0. */
  readonly tolerance: number;
  readonly isLabeled: boolean;
  readonly typeface: string;
  /** The file of the numbers; SOURCES.md has its license. */
  readonly source: string;
}

const TASKS = 1_000_000;
/** From this difficulty on the text is unreadable when the image is shrunk to fit a small model. */
const ZOOM_FROM = 3;
const READ_OFF_TOLERANCE = 0.05;
const readOperations: readonly string[] = ['lookup', 'ratio', 'sum', 'mean', 'difference'];

/** Questions about charts of real tables, with their programs. */
export const chartsQa = defineTaskSet({
  name: 'charts-qa',
  description: 'Read, compare and calculate with charts of real tables.',
  settings,
  create(options) {
    checkDifficulties(options);
    const kinds = someOf('kinds', options.kinds, chartKinds);
    return { size: () => TASKS, task: (split, index) => makeTask(options, kinds, split, index) };
  },
});

async function makeTask(
  options: ChartOptions,
  kinds: readonly ChartKind[],
  split: Split,
  index: number,
): Promise<Task> {
  const random = randomAt(options.seed, 'charts-qa', split, index);
  const difficulty = drawLevel(options, random);
  const kind = random.pick(kinds);
  const tables = tablesOf(split);
  // Drawn anew until table, chart and question go together; one in a few does.
  for (;;) {
    const plan = planChart(kind, difficulty, tables, random);
    if (plan === undefined) continue;
    const wantsLabels =
      options.labels === 'some' ? random.integer(2) === 0 : options.labels === 'always';
    const style = chartStyle(split, difficulty, random);
    const { drawing, marks, isLabeled, axis } = drawChart(plan, style, wantsLabels);
    if (kind === 'stacked' && !isLabeled) continue;
    const asked = askChart(plan, difficulty, { isLabeled, axis }, random);
    if (asked === undefined) continue;
    const { width, height } = drawing;
    const evidence = asked.program.cells.map(({ row, column }) => {
      const mark = marks.find((each) => each.row === row && each.column === column);
      return { row, column, box: boxAround(mark?.boxes ?? [], width, height) };
    });
    const isReadOff = !isLabeled && readOperations.includes(asked.program.operation);
    const facts: ChartFacts = {
      family: 'charts-qa',
      kind,
      difficulty,
      requiredTools: difficulty >= ZOOM_FROM ? ['crop'] : [],
      box: boxAround(
        evidence.map(({ box }) => box),
        width,
        height,
      ),
      evidence,
      table: plan.table.id,
      program: asked.program,
      tolerance: isReadOff ? READ_OFF_TOLERANCE : 0,
      isLabeled,
      typeface: style.regular.name,
      source: plan.table.source,
    };
    return {
      id: `charts-qa-${split}-${String(index).padStart(6, '0')}`,
      question: asked.question,
      images: [await drawing.toImage('image_clue_0')],
      answer: asked.answer,
      metadata: { ...facts },
    };
  }
}
