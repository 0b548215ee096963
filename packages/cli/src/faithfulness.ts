/** `saccade faithfulness`: whether tools were used for what was asked about (CodeV, algorithm 1). */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataError, messageOf } from '@saccade/core';
import { type EvaluationSettings, evaluationSettings } from '@saccade/eval';
import {
  formatPercent,
  type RunFaithfulness,
  readFaithfulness,
  type SetFaithfulness,
  wilsonInterval,
} from '@saccade/report';
import { isEvaluation } from '@saccade/run-store';
import { auditOptionsOf, readRunConfig } from '@saccade/train';
import { type JudgeFlags, openJudges } from './judge-flags.ts';
import { formatTable } from './table.ts';

export interface FaithfulnessFlags extends JudgeFlags {
  readonly of?: readonly string[];
  readonly cropIou?: number;
  readonly json?: boolean;
}

export async function measureFaithfulness(
  directories: readonly string[],
  flags: FaithfulnessFlags,
): Promise<void> {
  const found: RunFaithfulness[] = [];
  for (const directory of directories) found.push(await measure(directory, flags));
  if (flags.json) {
    console.log(JSON.stringify({ runs: found }, null, 2));
    return;
  }
  for (const [index, run] of found.entries()) {
    if (index > 0) console.log('');
    for (const line of describeFaithfulness(run)) console.log(line);
  }
}

async function measure(directory: string, flags: FaithfulnessFlags): Promise<RunFaithfulness> {
  // Before the judge's grades get a folder in it.
  if (!existsSync(directory)) {
    throw new DataError(`There is no directory ${directory}. Give a run or an evaluation.`);
  }
  const gaps: string[] = [];
  const own = await ownOptions(directory, gaps);
  const ask = openJudges(flags, join(directory, 'faithfulness'))?.faithfulness;
  const found = await readFaithfulness(directory, {
    ...own,
    ...(flags.cropIou !== undefined && { cropIou: flags.cropIou }),
    ...(flags.of && { only: flags.of }),
    ...(ask && { ask }),
  });
  return { ...found, gaps: [...found.gaps, ...gaps] };
}

/** How a run itself measures; by default where its configuration is not known. */
async function ownOptions(
  directory: string,
  gaps: string[],
): Promise<Pick<EvaluationSettings, 'cropIou'> & { readonly analysis?: object }> {
  // What an evaluation of suites is measured by does not depend on a run.
  if (isEvaluation(directory)) return { cropIou: evaluationSettings.parse({}).cropIou };
  try {
    const run = await readRunConfig(directory);
    const { analysis } = auditOptionsOf(run);
    return { cropIou: run.config.evaluation.cropIou, analysis };
  } catch (error) {
    gaps.push(
      `Crops are judged by default settings, as the run's are not known here: ${messageOf(error)}`,
    );
    return { cropIou: evaluationSettings.parse({}).cropIou };
  }
}

/** The lines that `saccade faithfulness` prints of a run. */
export function describeFaithfulness({
  directory,
  by,
  sets,
  gaps,
}: RunFaithfulness): readonly string[] {
  const how = by === 'boxes' ? 'crops by the task’s box' : 'images by a judge';
  return [
    `${directory}: ${how}`,
    '',
    ...formatTable([
      ['', 'judged', 'accuracy', 'of all', '95 %', 'of right', 'faithful', 'unfaithful', 'no tool'],
      ...sets.map(rowOf),
    ]),
    '',
    ...formatTable([
      ['tool calls', '0', '1', '2', '3+', 'share, accuracy in it'],
      ...sets.map(({ name, buckets }) => [
        name,
        ...buckets.map(({ share, accuracy = Number.NaN }) => {
          return share === 0 ? '–' : `${formatPercent(share, 0)}, ${formatPercent(accuracy, 0)}`;
        }),
        '',
      ]),
    ]),
    ...sets.flatMap(describeAgreement),
    ...(gaps.length === 0 ? [] : ['', 'Not everything could be used:', ...gaps.map(bullet)]),
  ];
}

const bullet = (text: string): string => `- ${text}`;

function rowOf({ name, faithfulness: found, accuracy }: SetFaithfulness): readonly string[] {
  const { count, rate, rateOfCorrect, classes } = found;
  const share = (value: number | undefined): string => formatPercent(value ?? Number.NaN);
  const interval = rate === undefined ? undefined : wilsonInterval(rate, count);
  return [
    name,
    String(count),
    share(accuracy),
    share(rate),
    interval === undefined ? '–' : `${share(interval.low)} to ${share(interval.high)}`,
    share(rateOfCorrect),
    share(classes?.faithful),
    share(classes?.unfaithful),
    share(classes?.noTool),
  ];
}

function describeAgreement({ name, agreement }: SetFaithfulness): readonly string[] {
  if (agreement === undefined) return [];
  const { kappa, interval, agreement: share, count } = agreement;
  const written =
    kappa === undefined || interval === undefined
      ? 'not defined, since both say the same of everything'
      : `${kappa.toFixed(2)} (95 % ${interval.low.toFixed(2)} to ${interval.high.toFixed(2)})`;
  return [
    '',
    `${name}: judge and boxes agree on ${formatPercent(share)} of ${count} executions; kappa ${written}.`,
  ];
}
