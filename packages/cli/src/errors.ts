/** `saccade errors`: VISTA's six kinds of errors of tool use, by stage of training. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, DataError, messageOf } from '@saccade/core';
import {
  type EvaluationSettings,
  errorKinds,
  errorMeanings,
  evaluationSettings,
} from '@saccade/eval';
import {
  type ErrorColumn,
  type ErrorSource,
  type ErrorStage,
  errorColumns,
  formatPercent,
  type RunErrors,
  readRunErrors,
} from '@saccade/report';
import { auditOptionsOf, readRunConfig } from '@saccade/train';
import { describeExamples, exampleJson, examplesOf } from './error-examples.ts';
import {
  areEvaluations,
  describeEvaluationErrors,
  errorsOfEvaluations,
} from './evaluation-errors.ts';
import { printJson } from './json.ts';
import { type JudgeFlags, openJudges } from './judge-flags.ts';
import { say } from './say.ts';
import { formatTable } from './table.ts';

export interface ErrorsFlags extends JudgeFlags {
  readonly from?: ErrorSource;
  readonly windows: number;
  readonly examples?: ErrorColumn;
  readonly count: number;
  readonly json?: boolean;
}

/** The kinds of errors with their meanings, and examples. */
export function errorsHelp(): string {
  const rows = errorKinds.map((kind) => [`  ${kind}`, errorMeanings[kind]]);
  return `
Kinds (VISTA, arXiv:2511.19773, Appendix G.1), as shares of the wrong answers; one may have several:
${formatTable([...rows, ['  undecided', 'Wrong after tools were used, and no rule has a reason.']]).join('\n')}

Examples:
  saccade errors runs/vista-nano-seed1
  saccade errors runs/tools runs/no-tools --windows 2
  saccade errors evaluations/sft evaluations/rl
  saccade errors runs/mine --examples E2 --count 3
  saccade errors runs/mine --judge http://127.0.0.1:8000/v1 --judge-model judge
  saccade errors runs/mine --json | jq '.runs[0].stages[] | {name, E4: .shares.E4}'

Metrics cover everything that a run rolled out; trajectories are those that it keeps, with
--set keepTrajectoriesEverySteps=1 a group of every step. Rules decide E1, E2, E3 and E5, and E4 and E6
where the task says the place or a tool the answer. --judge asks a model what went wrong first in the
others; its grades are kept in <run>/errors/grades.jsonl. In training, judge.judgesErrors=true asks too.`;
}

export async function countErrors(
  directories: readonly string[],
  flags: ErrorsFlags,
): Promise<void> {
  if (areEvaluations(directories)) {
    const found = errorsOfEvaluations(directories);
    if (flags.json) console.log(JSON.stringify(found, null, 2));
    else for (const line of describeEvaluationErrors(found)) console.log(line);
    return;
  }
  const found: RunErrors[] = [];
  for (const directory of directories) found.push(await errorsOf(directory, flags));
  if (flags.json) {
    printJson({ runs: found.map((run) => jsonOf(run, flags)) });
    return;
  }
  const lines = found.flatMap((run, index) => [
    ...(index > 0 ? [''] : []),
    ...describeErrors(run, flags),
  ]);
  for (const line of lines) say(line);
}

async function errorsOf(directory: string, flags: ErrorsFlags): Promise<RunErrors> {
  // Before the judge's grades get a folder in it.
  if (!existsSync(directory)) {
    throw new DataError(`There is no run directory ${directory}. Give the path of a run.`);
  }
  const gaps: string[] = [];
  const own = await ownOptions(directory, gaps);
  const ask = judgeOf(directory, flags);
  const found = await readRunErrors(directory, {
    ...own,
    windows: flags.windows,
    ...(flags.from && { from: flags.from }),
    ...(ask && { ask }),
  });
  return { ...found, gaps: [...found.gaps, ...gaps] };
}

/** How a run itself tags errors; by default where its configuration is not known. */
async function ownOptions(
  directory: string,
  gaps: string[],
): Promise<Pick<EvaluationSettings, 'shownShare'> & { readonly analysis?: object }> {
  try {
    const run = await readRunConfig(directory);
    const { shownShare } = run.config.evaluation;
    return { shownShare, analysis: auditOptionsOf(run).analysis };
  } catch (error) {
    gaps.push(
      `Errors are tagged by default settings, as the run's are not known here: ${messageOf(error)}`,
    );
    const { shownShare } = evaluationSettings.parse({});
    return { shownShare };
  }
}

/** The judge that the flags name. @throws ConfigError where they do not go together */
function judgeOf(directory: string, flags: ErrorsFlags) {
  const judges = openJudges(flags, join(directory, 'errors'));
  if (judges === undefined || flags.from !== 'metrics') return judges?.errors;
  const message =
    '--judge looks at trajectories, and --from metrics counts none. Leave one of the two out.';
  throw new ConfigError('from', message);
}

/** The lines that `saccade errors` prints of a run. */
function describeErrors(
  run: RunErrors,
  { examples, count }: Pick<ErrorsFlags, 'examples' | 'count'>,
): readonly string[] {
  const { directory, source, stages, gaps } = run;
  const counted =
    source === 'metrics' ? 'everything that it rolled out' : 'the trajectories that it keeps';
  const lines = [
    `${directory}: errors as shares of the wrong answers, of ${counted}`,
    '',
    ...formatTable([
      ['stage', 'wrong answers', ...errorColumns],
      ...stages.map((stage) => [
        stage.name,
        describeWrong(stage),
        ...errorColumns.map((column) => percent(stage.shares[column])),
      ]),
    ]),
  ];
  if (stages.length === 0) lines.push('No stage has any answers.');
  if (examples !== undefined) lines.push('', ...describeExamples(run.examples, examples, count));
  if (gaps.length > 0)
    lines.push('', 'Not everything could be used:', ...gaps.map((gap) => `- ${gap}`));
  return lines;
}

function describeWrong({ wrongShare, count }: ErrorStage): string {
  const share = formatPercent(wrongShare, 1);
  return count === undefined ? share : `${share} of ${Math.round(count)}`;
}

function percent(share: number | undefined): string {
  return share === undefined ? '–' : formatPercent(share, 1);
}

function jsonOf(
  { directory, source, stages, examples, gaps }: RunErrors,
  flags: ErrorsFlags,
): object {
  const shown = flags.examples && examplesOf(examples, flags.examples).slice(0, flags.count);
  return {
    run: directory,
    source,
    stages,
    ...(shown && { examples: shown.map(exampleJson) }),
    gaps,
  };
}
