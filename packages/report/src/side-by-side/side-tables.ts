/** The tables of evaluations side by side. */
import type { Measured } from '@saccade/run-store';
import type { CellValue, Table, TableColumn } from '../tables/table.ts';
import type { PageSuite, SideBySide } from './read-side-by-side.ts';

/** Every table of the page, suite by suite. Those without a row are left out. */
export function sideTables(page: SideBySide): readonly Table[] {
  return page.suites
    .flatMap((suite) => suiteTables(suite, page))
    .filter(({ rows }) => rows.length > 0);
}

/** The tables of one suite. */
export function suiteTables(suite: PageSuite, page: Pick<SideBySide, 'models'>): readonly Table[] {
  const labels = page.models.map(({ label }) => label);
  return [
    mainTable(suite, labels),
    pairTable(suite, labels),
    sliceTable(suite, labels),
    ...['calls', 'turns', 'tokens', 'tools', 'ends'].map((name) =>
      bucketTable(suite, labels, name),
    ),
    errorTable(suite, labels),
    findingTable(suite, labels),
  ];
}

const model: TableColumn = { key: 'model', title: 'Model', kind: 'text' };

/** A metric with its interval, where it has one. */
function metricOf({ metrics, intervals }: Measured, name: string): CellValue {
  const estimate = metrics[name];
  const interval = intervals[name];
  if (estimate === undefined) return undefined;
  return interval === undefined ? estimate : { estimate, low: interval[0], high: interval[1] };
}

function mainTable({ name, k, models, tasks }: PageSuite, labels: readonly string[]): Table {
  const passes = [...new Set(models.flatMap(({ results }) => Object.keys(results.metrics)))].filter(
    (metric) => metric.startsWith('pass@') && metric !== 'pass@1',
  );
  const columns: readonly TableColumn[] = [
    model,
    { key: 'avg_at_k', title: `avg@${k}`, kind: 'share', hasInterval: true },
    ...passes.map((metric): TableColumn => {
      const key = metric.replace('@', '_at_');
      return { key, title: metric, kind: 'share', hasInterval: true };
    }),
    ...(k > 1
      ? [{ key: 'maj_at_k', title: `maj@${k}`, kind: 'share', hasInterval: true } as const]
      : []),
    { key: 'tool_calls', title: 'Tool calls', kind: 'number' },
    { key: 'turns', title: 'Turns', kind: 'number' },
    { key: 'tokens', title: 'Tokens', kind: 'number' },
    { key: 'visual_tokens', title: 'Visual tokens', kind: 'number' },
    { key: 'execution_success', title: 'Executions that ran', kind: 'share' },
    { key: 'samples', title: 'Samples', kind: 'count' },
    { key: 'missing', title: 'Missing', kind: 'count' },
  ];
  return {
    name: `${name}-accuracy`,
    title: `${name}: accuracy`,
    about: `Over ${tasks.length} tasks. avg@k is the mean score of k samples, pass@n the chance that one of n is right. 95 % intervals resample tasks.`,
    columns,
    rows: models.map(({ model: index, results }) => [
      labels[index],
      metricOf(results, `avg@${results.k}`),
      ...passes.map((metric) => metricOf(results, metric)),
      ...(k > 1 ? [metricOf(results, `maj@${results.k}`)] : []),
      results.metrics['tool_calls/mean'],
      results.metrics['turns/mean'],
      results.metrics['tokens/mean'],
      results.metrics['visual_tokens/mean'],
      results.metrics['execution/success_rate'],
      results.samples,
      results.missing,
    ]),
  };
}

function pairTable({ name, pairs }: PageSuite, labels: readonly string[]): Table {
  return {
    name: `${name}-pairs`,
    title: `${name}: models compared task by task`,
    about:
      'Difference of the mean scores. p by a sign-flip test over tasks, adjusted for the number of pairs ' +
      '(Holm); McNemar’s exact test of right majorities. Tasks needed: to find this difference with a chance of 80 %.',
    columns: [
      model,
      { key: 'other', title: 'against', kind: 'text' },
      { key: 'difference', title: 'Difference', kind: 'points', hasInterval: true },
      { key: 'p', title: 'p', kind: 'pValue' },
      { key: 'p_adjusted', title: 'p, adjusted', kind: 'pValue' },
      { key: 'p_mcnemar', title: 'McNemar', kind: 'pValue' },
      { key: 'wins', title: 'Better on', kind: 'count' },
      { key: 'ties', title: 'Same', kind: 'count' },
      { key: 'losses', title: 'Worse on', kind: 'count' },
      { key: 'tasks_needed', title: 'Tasks needed', kind: 'count' },
    ],
    rows: pairs.map(({ models: [first, second], comparison, adjustedPValue }) => [
      labels[first],
      labels[second],
      comparison.difference,
      comparison.pValue,
      adjustedPValue,
      comparison.mcnemar,
      comparison.wins,
      comparison.ties,
      comparison.losses,
      comparison.tasksNeeded,
    ]),
  };
}

function sliceTable({ name, models }: PageSuite, labels: readonly string[]): Table {
  const rows = new Map<string, readonly [slice: string, value: string]>();
  for (const { results } of models) {
    for (const [slice, values] of Object.entries(results.slices)) {
      for (const value of Object.keys(values))
        rows.set(JSON.stringify([slice, value]), [slice, value]);
    }
  }
  return {
    name: `${name}-slices`,
    title: `${name}: slices`,
    about: 'Accuracy on parts of the suite, with 95 % intervals that resample tasks.',
    columns: [
      { key: 'slice', title: 'Slice', kind: 'text' },
      { key: 'value', title: 'Value', kind: 'text' },
      { key: 'tasks', title: 'Tasks', kind: 'count' },
      ...modelColumns(models, labels, { kind: 'share', hasInterval: true }),
    ],
    rows: [...rows.values()].map(([slice, value]) => {
      const own = models.map(({ results }) => results.slices[slice]?.[value]);
      return [
        slice,
        value,
        Math.max(...own.map((measured) => measured?.tasks ?? 0)),
        ...own.map((measured, index) =>
          measured === undefined
            ? undefined
            : metricOf(measured, `avg@${models[index]?.results.k}`),
        ),
      ];
    }),
  };
}

const bucketTitles: Readonly<Record<string, readonly [title: string, about: string]>> = {
  calls: [
    'tool calls',
    'Share of the samples with so many tool calls, and how many of them are right.',
  ],
  turns: ['turns', 'Share of the samples with so many turns, and how many of them are right.'],
  tokens: [
    'tokens',
    'Share of the samples with so many tokens of the model, and how many are right.',
  ],
  tools: ['tools', 'Share of all operations; how many of the samples that use one are right.'],
  ends: ['ends', 'Why samples ended, and how many of them are right.'],
};

function bucketTable(
  { name, models }: PageSuite,
  labels: readonly string[],
  bucket: string,
): Table {
  const [title, about] = bucketTitles[bucket] ?? [bucket, ''];
  const order = [
    ...new Set(
      models.flatMap(({ results }) => (results.buckets[bucket] ?? []).map(({ label }) => label)),
    ),
  ];
  if (bucket === 'calls' || bucket === 'turns' || bucket === 'tokens') {
    order.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  }
  return {
    name: `${name}-${bucket}`,
    title: `${name}: ${title}`,
    about,
    columns: [
      { key: bucket, title: title.charAt(0).toUpperCase() + title.slice(1), kind: 'text' },
      ...models.flatMap(({ model: index }): readonly TableColumn[] => [
        { key: `share_${index + 1}`, title: `${labels[index]}: share`, kind: 'share' },
        { key: `accuracy_${index + 1}`, title: 'right', kind: 'share' },
      ]),
    ],
    rows: order.map((label) => [
      label,
      ...models.flatMap(({ results }) => {
        const own = results.buckets[bucket]?.find((one) => one.label === label);
        return [own?.share, own?.accuracy];
      }),
    ]),
  };
}

function errorTable({ name, models }: PageSuite, labels: readonly string[]): Table {
  const kinds = [...new Set(models.flatMap(({ results }) => Object.keys(results.metrics)))].filter(
    (metric) => metric.startsWith('errors/'),
  );
  return {
    name: `${name}-errors`,
    title: `${name}: errors of tool use`,
    about:
      'Shares of the wrong samples with an error of each kind (VISTA, E1 to E6); one may have several.',
    columns: [
      { key: 'kind', title: 'Kind', kind: 'text' },
      ...modelColumns(models, labels, { kind: 'share' }),
    ],
    rows: kinds.map((metric) => [
      metric.slice('errors/'.length),
      ...models.map(({ results }) => results.metrics[metric]),
    ]),
  };
}

function findingTable({ name, models }: PageSuite, labels: readonly string[]): Table {
  const detectors = [
    ...new Set(models.flatMap(({ results }) => results.findings.map(({ detector }) => detector))),
  ];
  return {
    name: `${name}-hacking`,
    title: `${name}: reward hacking`,
    about: 'Share of the samples that each detector flags; an exclamation mark is an alarm.',
    columns: [
      { key: 'detector', title: 'Detector', kind: 'text' },
      ...modelColumns(models, labels, { kind: 'share' }),
      { key: 'alarms', title: 'Alarms', kind: 'text' },
    ],
    rows: detectors.map((detector) => {
      const own = models.map(({ results }) =>
        results.findings.find((finding) => finding.detector === detector),
      );
      const alarms = own.flatMap((finding, index) =>
        finding?.isAlarm === true ? [labels[models[index]?.model ?? 0] ?? ''] : [],
      );
      return [
        detector,
        ...own.map((finding) => finding?.share),
        alarms.length === 0 ? 'none' : `! ${alarms.join(', ')}`,
      ];
    }),
  };
}

function modelColumns(
  models: PageSuite['models'],
  labels: readonly string[],
  kind: Pick<TableColumn, 'kind' | 'hasInterval'>,
): readonly TableColumn[] {
  return models.map(({ model: index }) => ({
    key: `model_${index + 1}`,
    title: labels[index] ?? '',
    ...kind,
  }));
}
