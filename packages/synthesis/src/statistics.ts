/** The numbers of a run of a pipeline. */
import type { DialogSample } from '@saccade/data/formats';
import type { Protocol } from '@saccade/gym';
import type { Message } from '@saccade/trajectory';
import type { Fact, Pipeline, StepCount, SynthesisResult } from './pipeline.ts';

/** A histogram: names in order, and how often each. */
export interface Histogram {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly { readonly name: string; readonly count: number }[];
}

/** Everything that a page of statistics says. */
export interface Statistics {
  readonly pipeline: string;
  readonly description: string;
  readonly paper: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly examples: number;
  readonly tasks?: number;
  readonly steps: readonly StepCount[];
  readonly facts: readonly Fact[];
  readonly histograms: readonly Histogram[];
}

/** Counts what a pipeline made. */
export function statisticsOf(
  { name, description, paper }: Pick<Pipeline, 'name' | 'description' | 'paper'>,
  settings: Readonly<Record<string, unknown>>,
  { samples, taskIds, steps, facts, passRates }: SynthesisResult,
  protocol: Pick<Protocol, 'parse'>,
): Statistics {
  const histograms: Histogram[] = [];
  const calls = samples.map(({ messages }) => callsOf(messages, protocol));
  if (samples.length > 0) {
    histograms.push(
      counted('Tool turns of an example', 'examples', calls.map(String)),
      counted(
        'Images of an example',
        'examples',
        samples.map((one) => String(imagesOf(one))),
      ),
      ranged('Characters that the model writes', samples.map(writtenOf)),
    );
    for (const tag of ['type', 'stratum', 'mistake']) {
      const values = samples.flatMap(({ tags }) => {
        const value = tags?.[tag];
        return value === undefined ? [] : [String(value)];
      });
      if (values.length > 0) histograms.push(counted(`Examples by ${tag}`, 'examples', values));
    }
  }
  if (passRates !== undefined && passRates.length > 0) {
    const known = passRates.flatMap(({ rate, right, samples: of }) =>
      rate === undefined ? [] : [`${right} of ${of}`],
    );
    histograms.push(counted('Right answers of the weak model', 'tasks', known));
  }
  return {
    ...{ pipeline: name, description, paper, settings, examples: samples.length },
    ...(taskIds && { tasks: taskIds.length }),
    ...{ steps, facts, histograms },
  };
}

function callsOf(messages: readonly Message[], protocol: Pick<Protocol, 'parse'>): number {
  return messages.filter((message) => {
    if (message.role !== 'assistant') return false;
    const { kind } = protocol.parse(textOf(message));
    return kind === 'code' || kind === 'toolCall';
  }).length;
}

/** The text of a message; images leave nothing. */
export function textOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function imagesOf({ messages }: DialogSample): number {
  return messages
    .flatMap(({ content }) => (typeof content === 'string' ? [] : (content ?? [])))
    .filter(({ type }) => type !== 'text').length;
}

function writtenOf({ messages }: DialogSample): number {
  return messages
    .filter(({ role }) => role === 'assistant')
    .reduce((sum, message) => sum + textOf(message).length, 0);
}

function counted(title: string, unit: string, values: readonly string[]): Histogram {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const byNumber = new Intl.Collator('en', { numeric: true });
  const bars = [...counts].map(([name, count]) => ({ name, count }));
  return { title, unit, bars: bars.sort((a, b) => byNumber.compare(a.name, b.name)) };
}

/** Bars of a histogram of amounts. */
const BARS = 10;

function ranged(title: string, values: readonly number[]): Histogram {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const width = Math.max(1, Math.ceil((most - least + 1) / BARS));
  const bars = Array.from({ length: Math.ceil((most - least + 1) / width) }, (_, index) => {
    const from = least + index * width;
    const count = values.filter((value) => value >= from && value < from + width).length;
    return { name: `${from} to ${from + width - 1}`, count };
  });
  return { title, unit: 'examples', bars };
}
