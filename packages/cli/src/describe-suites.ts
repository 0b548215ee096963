/** Results of suites as tables of the terminal. */
import type { SuiteComparison } from '@saccade/eval';
import type { Bucket, EvaluationResults, Measured, SuiteResults } from '@saccade/run-store';
import { formatTable } from './table.ts';

/** Slices with more values are left to reports. */
const MOST_VALUES = 12;
/** Categories of tools that are listed. */
const MOST_TOOLS = 6;

/** The lines of some suites: one table of all, then slices, tools and findings of each. */
export function describeSuites(
  { suites }: EvaluationResults,
  names: readonly string[],
): readonly string[] {
  const chosen = names.flatMap((name) => {
    const results = suites[name];
    return results === undefined ? [] : [{ name, results }];
  });
  return [
    '',
    ...formatTable([
      [
        'suite',
        'tasks',
        'samples',
        'avg@k',
        'interval',
        'pass@k',
        'maj@k',
        'turns',
        'calls',
        'ran',
      ],
      ...chosen.map(({ name, results }) => rowOf(name, results)),
    ]),
    ...chosen.flatMap(({ name, results }) => detailsOf(name, results)),
  ];
}

function rowOf(name: string, { k, metrics, intervals, tasks, samples }: SuiteResults) {
  const [low, high] = intervals[`avg@${k}`] ?? [];
  return [
    k === 1 ? name : `${name} (k=${k})`,
    String(tasks),
    String(samples),
    percent(metrics[`avg@${k}`]),
    low === undefined || high === undefined ? '–' : `${percent(low)} to ${percent(high)}`,
    percent(metrics[`pass@${k}`]),
    percent(metrics[`maj@${k}`]),
    fixed(metrics['turns/mean']),
    fixed(metrics['tool_calls/mean']),
    percent(metrics['execution/success_rate']),
  ];
}

function detailsOf(name: string, results: SuiteResults): readonly string[] {
  const { slices, buckets, findings, k } = results;
  const lines: string[] = [];
  for (const [slice, values] of Object.entries(slices)) {
    const entries = Object.entries(values);
    if (entries.length < 2 || entries.length > MOST_VALUES) continue;
    lines.push(
      `  by ${slice}: ${entries.map(([value, own]) => sliceValue(value, own, k)).join(', ')}`,
    );
  }
  const tools = (buckets.tools ?? []).slice(0, MOST_TOOLS);
  if (tools.length > 0) lines.push(`  tools: ${tools.map(shareOf).join(', ')}`);
  const calls = buckets.calls ?? [];
  if (calls.length > 1) lines.push(`  calls: ${calls.map(accuracyOf).join(', ')}`);
  for (const { detector, message, isAlarm } of findings) {
    if (isAlarm) lines.push(`  ALARM ${detector}: ${message}`);
  }
  return lines.length === 0 ? [] : ['', `${name}`, ...lines];
}

const sliceValue = (value: string, { metrics, tasks }: Measured, k: number): string =>
  `${value} ${percent(metrics[`avg@${k}`])} (${tasks})`;

const shareOf = ({ label, share }: Bucket): string => `${label} ${percent(share)}`;

const accuracyOf = ({ label, share, accuracy }: Bucket): string =>
  `${label}: ${percent(share)}, right ${percent(accuracy)}`;

/** The lines of a comparison with another model. */
export function describeComparison(
  compared: readonly SuiteComparison[],
  other: string,
): readonly string[] {
  if (compared.length === 0) return ['', `No suite in common with ${other}.`];
  return [
    '',
    `Against ${other}, task by task:`,
    ...formatTable([
      ['suite', 'this', 'other', 'difference', 'interval', 'p', 'wins', 'losses', 'tasks needed'],
      ...compared.map((one) => [
        one.suite,
        percent(one.a),
        percent(one.b),
        points(one.difference.estimate),
        `${points(one.difference.low)} to ${points(one.difference.high)}`,
        one.pValue < 0.001 ? '< 0.001' : one.pValue.toFixed(3),
        String(one.wins),
        String(one.losses),
        one.tasksNeeded === undefined ? '–' : String(one.tasksNeeded),
      ]),
    ]),
  ];
}

function percent(share: number | undefined): string {
  return share === undefined ? '–' : `${(100 * share).toFixed(1)} %`;
}

function points(share: number): string {
  return `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}`;
}

function fixed(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(2);
}
