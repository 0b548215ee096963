/** The card of an export: front matter for the viewer of Hugging Face, and a page for people. */
import type { DataFacts } from '@saccade/gym';
import type { WrittenFiles } from '../writer.ts';

interface CardOptions {
  readonly title: string;
  readonly license?: string;
  readonly facts: readonly DataFacts[];
  readonly splits: Readonly<Record<string, WrittenFiles>>;
  readonly writer: { readonly name: string };
}

/** Sizes of data sets as the hub groups them. */
const SIZES: readonly (readonly [number, string])[] = [
  [1e3, 'n<1K'],
  [1e4, '1K<n<10K'],
  [1e5, '10K<n<100K'],
  [1e6, '100K<n<1M'],
  [1e7, '1M<n<10M'],
];

/** The text of README.md. */
export async function formatCard(options: CardOptions): Promise<string> {
  const { stringify } = await import('yaml');
  const { title, license, facts, splits, writer } = options;
  const known = license ?? licenseOf(facts);
  const written = Object.entries(splits);
  const rows = written.reduce((sum, [, { rowCount }]) => sum + rowCount, 0);
  const bytes = written.reduce((sum, [, { sizeBytes }]) => sum + sizeBytes, 0);
  const isParquet = writer.name === 'parquet';
  const matter = {
    pretty_name: title,
    ...(known && { license: known }),
    task_categories: ['visual-question-answering'],
    size_categories: [SIZES.find(([limit]) => rows < limit)?.[1] ?? 'n>10M'],
    configs: [
      {
        config_name: 'default',
        data_files: written.map(([split, { pattern }]) => ({ split, path: pattern })),
      },
    ],
    ...(isParquet && {
      dataset_info: {
        features: [
          { name: 'id', dtype: 'string' },
          { name: 'images', list: 'image' },
          { name: 'question', dtype: 'string' },
          { name: 'answer', dtype: 'string' },
          { name: 'metadata', dtype: 'string' },
        ],
        splits: written.map(([name, { rowCount, sizeBytes }]) => {
          return { name, num_bytes: sizeBytes, num_examples: rowCount };
        }),
        download_size: bytes,
        dataset_size: bytes,
      },
    }),
  };
  const table = written.map(([split, { rowCount, files }]) => {
    return `| ${split} | ${rowCount} | ${files.length} |`;
  });
  const sources = facts.map(
    ({ name, from, title: called, license: own, trainRows, heldOutRows }) =>
      `| ${name} | ${called ?? ''} | ${from} | ${own} | ${trainRows} | ${heldOutRows} |`,
  );
  return [
    '---',
    stringify(matter, { lineWidth: 0 }).trimEnd(),
    '---',
    '',
    `# ${title}`,
    '',
    'Questions about images with their answers. `metadata` has the facts of a task as JSON.',
    '',
    '| split | rows | files |',
    '| --- | --- | --- |',
    ...table,
    ...(sources.length === 0
      ? []
      : [
          '',
          '## Sources',
          '',
          '| name | title | from | license | training rows | held-out rows |',
          '| --- | --- | --- | --- | --- | --- |',
          ...sources,
        ]),
    '',
  ].join('\n');
}

/** The license of all sources if they agree; a list of several is no license of the whole. */
function licenseOf(facts: readonly DataFacts[]): string | undefined {
  const licenses = [...new Set(facts.map(({ license }) => license))];
  if (licenses.length === 0) return undefined;
  const [only = ''] = licenses;
  return licenses.length === 1 && only !== 'not stated' ? only : 'other';
}
