/** Charts to tables and data, and questions about them: VISTA's ChartMoE. */
import { refused } from '@saccade/tools';
import { z } from 'zod';
import { analysisOf } from '../charts/analysis.ts';
import { answerText } from '../charts/answer-text.ts';
import { descriptionOf, summaryOf } from '../charts/captions.ts';
import { type ReadChart, readChart } from '../charts/chart-reading.ts';
import { dataOf } from '../charts/data.ts';
import { gridOf, markdownTable } from '../charts/grid.ts';
import { notesOn } from '../charts/notes.ts';
import { defineVisionTool, imageAt, imageIndex, isOutcome } from '../define-vision-tool.ts';
import { answered } from '../outcomes.ts';

const tasks = ['to_table', 'extract_data', 'answer', 'analyze', 'describe', 'summarize'] as const;
const prefix = 'ChartMoE Analysis Result:\n';

export const chartmoe = defineVisionTool({
  name: 'chartmoe',
  description:
    'Works on a chart. Tasks: to_table gives its data as a Markdown table, extract_data as JSON with ' +
    'axes and confidence, answer answers a question about its values, analyze computes sums, averages, ' +
    'differences and ratios, describe and summarize say what it shows.',
  says:
    'the table that unichart reads. answer knows lookup, highest and lowest, difference, ratio, share, ' +
    'sum, average, median, count, comparison and trend, and declines all else.',
  parameters: {
    task: z
      .enum(tasks)
      .optional()
      .describe('to_table by default, answer where there is a question.'),
    question: z.string().max(2000).optional().describe('For answer; names rows as the chart does.'),
    prompt: z.string().max(2000).optional().describe('Another word for question.'),
    output_format: z
      .enum(['detailed', 'brief'])
      .optional()
      .describe('brief leaves out title, notes and the values that an answer rests on.'),
    image_index: imageIndex,
  },
  example: { task: 'to_table' },
  operations: ['chart'],
  async embedded(given, context, engine) {
    const question = (given.question ?? given.prompt ?? '').trim();
    const task = given.task ?? (question === '' ? 'to_table' : 'answer');
    const image = imageAt(context, given.image_index ?? 0);
    if (isOutcome(image)) return image;
    if (task === 'answer' && question === '') {
      return refused('MissingArgument', 'The argument question is missing. Give it.');
    }
    const chart = await readChart(engine, image);
    const isBrief = given.output_format === 'brief';
    return answered(prefix + textOf(task, chart, question, isBrief));
  },
});

function textOf(
  task: (typeof tasks)[number],
  chart: ReadChart,
  question: string,
  isBrief: boolean,
): string {
  switch (task) {
    case 'to_table': {
      const table = markdownTable(gridOf(chart));
      if (isBrief) return table;
      const title = chart.title === null ? [] : [chart.title, ''];
      return [...title, table, ...notesOn(chart)].join('\n');
    }
    case 'extract_data':
      return JSON.stringify(dataOf(chart), undefined, isBrief ? undefined : 2);
    case 'answer':
      return answerText(chart, question, isBrief);
    case 'analyze':
      return analysisOf(chart).join('\n');
    case 'describe':
      return [descriptionOf(chart), ...notesOn(chart)].join('\n');
    case 'summarize':
      return summaryOf(chart);
  }
}
