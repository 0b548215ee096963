/** The statistics page of a source: one HTML file that needs nothing else. */
import type { DataStatistics, Example, SplitStatistics, Spread } from './measure.ts';

const STYLE = `
:root { color-scheme: light dark; --page: #f7f7f5; --card: #fff; --ink: #1c1d1f; --quiet: #5d6168;
  --rule: #dfe0dc; --bar: #1f5fbf; --warn: #a3232b; }
@media (prefers-color-scheme: dark) { :root { --page: #131416; --card: #1c1e21; --ink: #e8e8e6;
  --quiet: #a2a6ad; --rule: #34373c; --bar: #82b1ff; --warn: #ff9d98; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 1.75rem 1.25rem 4rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
body > * { max-width: 72rem; margin-inline: auto; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.25rem auto .6rem; }
h3 { font-size: .95rem; margin: 0 0 .4rem; }
p { margin-block: .3rem; margin-inline: 0; } body > p { margin-inline: auto; } .quiet { color: var(--quiet); }
.facts, .examples { display: grid; gap: 1rem; }
.facts { grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); }
.examples { grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)); }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: .9rem 1rem;
  min-width: 0; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--rule);
  vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 500; color: var(--quiet); } td.n, th.n { text-align: right; white-space: nowrap; }
.bar { display: block; height: .5rem; margin-top: .4rem; background: var(--bar); border-radius: 3px; min-width: 2px; }
.bar-cell { width: 40%; }
figure { margin: 0; } figure img { display: block; max-width: 100%; max-height: 15rem; margin-bottom: .6rem;
  border: 1px solid var(--rule); border-radius: 4px; background: #fff; }
.question { white-space: pre-line; overflow-wrap: anywhere; font-size: .9rem; max-height: 12rem; overflow: auto; }
.answer { font-weight: 600; overflow-wrap: anywhere; } .id { font-size: .78rem; overflow-wrap: anywhere; }
.warn { border-left: 4px solid var(--warn); }
`;

/** The page as text. Everything of the data is escaped. */
export function statisticsPage(statistics: DataStatistics): string {
  const { name, from, format, mapping, title, license, sizeBytes, files, columns } = statistics;
  const { splits, problems } = statistics;
  const facts: readonly (readonly [string, string])[] = [
    ['from', from],
    ['license', license],
    ['format', `${format}, ${files} files, ${megabytes(sizeBytes)}`],
    ['mapping', mapping],
    ...splits.map(
      ({ split, rows }) => [wordOf(split), `${rows.toLocaleString('en-US')} rows`] as const,
    ),
  ];
  const rows = (pairs: readonly (readonly [string, string])[]): string =>
    pairs.map(([key, value]) => `<tr><th>${text(key)}</th><td>${text(value)}</td></tr>`).join('');
  const types = columns.map((column) => [column.name, column.type] as const);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(title ?? name)}</title><style>${STYLE}</style></head><body>
<header><p class="quiet">Data set</p><h1>${text(title ?? name)}</h1></header>
<h2>What it is</h2>
<div class="facts"><div class="card"><table>${rows(facts)}</table></div>
<div class="card"><h3>Columns</h3><table>${rows(types)}</table></div></div>
${problems.length > 0 ? problemCard(statistics) : ''}
${splits.map(splitPart).join('\n')}
</body></html>
`;
}

function problemCard({ problems }: DataStatistics): string {
  const rows = problems.map(
    ({ address, problem }) => `<tr><td>${text(address)}</td><td>${text(problem)}</td></tr>`,
  );
  return `<h2>Rows that cannot be used</h2><div class="card warn"><table>${rows.join('')}</table></div>`;
}

function splitPart(split: SplitStatistics): string {
  const { rows, read, corrupt, answers, distinctAnswers, examples } = split;
  const sampled = read < rows ? `${read.toLocaleString('en-US')} of ` : '';
  const bad = corrupt === 0 ? 'none of them corrupt' : `${corrupt} of them corrupt`;
  const most = answers[0]?.count ?? 1;
  const answerRows = answers.map(
    ({ text: answer, count }) =>
      `<tr><td>${text(shortened(answer))}</td><td class="n">${count}</td>` +
      `<td class="bar-cell"><span class="bar" style="width:${(100 * count) / most}%"></span></td></tr>`,
  );
  const spreads: readonly (readonly [string, Spread, number])[] = [
    ['images in a row', split.imagesPerRow, 0],
    ['megapixels of an image', split.megapixels, 2],
    ['words of a question', split.questionWords, 0],
    ['characters of an answer', split.answerCharacters, 0],
  ];
  return `<h2>${text(wordOf(split.split))}</h2>
<p class="quiet">${sampled}${rows.toLocaleString('en-US')} rows read, ${bad}.</p>
<div class="facts"><div class="card"><h3>Sizes</h3><table>
<tr><th></th><th class="n">least</th><th class="n">median</th><th class="n">95 %</th><th class="n">largest</th></tr>
${spreads.map(spreadRow).join('')}</table></div>
<div class="card"><h3>Answers: ${distinctAnswers.toLocaleString('en-US')} different</h3>
<table>${answerRows.join('')}</table></div></div>
<h2>Examples: ${text(wordOf(split.split).toLowerCase())}</h2>
<div class="examples">${examples.map(exampleCard).join('')}</div>`;
}

function spreadRow([name, spread, digits]: readonly [string, Spread, number]): string {
  const { least, median, p95, largest } = spread;
  const cells = [least, median, p95, largest].map(
    (value) => `<td class="n">${value.toFixed(digits)}</td>`,
  );
  return `<tr><th>${text(name)}</th>${cells.join('')}</tr>`;
}

function exampleCard({ id, question, answer, images, size, thumbnail }: Example): string {
  const image =
    thumbnail === undefined
      ? ''
      : `<img alt="" src="data:image/webp;base64,${Buffer.from(thumbnail).toString('base64')}">`;
  const more = images > 1 ? `, first of ${images}` : '';
  return `<figure class="card">${image}<figcaption><p class="question">${text(question)}</p>
<p class="answer">${text(shortened(answer))}</p>
<p class="quiet id">${text(id)}${size === undefined ? '' : ` · ${text(size)}${more}`}</p></figcaption></figure>`;
}

const wordOf = (split: string): string => (split === 'heldOut' ? 'Held out' : 'Training');
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const shortened = (value: string): string => (value.length > 90 ? `${value.slice(0, 87)}…` : value);

function text(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
