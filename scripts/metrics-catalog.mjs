/**
 * Writes docs/metrics.md: every metric that a run logs, from the catalog of @saccade/run-store.
 *
 *   node scripts/metrics-catalog.mjs          # writes it, from the compiled packages
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const TARGET = 'docs/metrics.md';

/** The text of docs/metrics.md. Needs the packages compiled. */
export async function metricsPage(root) {
  const compiled = join(root, 'packages/run-store/dist/metrics.js');
  const { metricCatalog } = await import(pathToFileURL(compiled).href);
  const files = [...new Set(metricCatalog.map(({ source }) => source))];
  const sections = files.map((file) => {
    const own = metricCatalog.filter(({ source }) => source === file);
    const rows = own.map(
      ({ name, unit, stages, meaning, isTrl }) =>
        `| \`${name}\` | ${unit} | ${stages.join(', ')} | ${isTrl ? 'yes' : ''} | ${meaning} |`,
    );
    const head = '| metric | unit | rows | TRL | meaning |\n| --- | --- | --- | --- | --- |';
    return `## [${file}](../${file})\n\n${head}\n${rows.join('\n')}\n`;
  });
  return `# Metrics

Every name in \`metrics.jsonl\` of a run, by the file that computes it. \`<word>\` stands for one part
of a name. Rows of the cold start have the stage \`sft\`, those of reinforcement learning \`rl\`. TRL
logs the marked metrics under the same name. This page is written by
\`node scripts/metrics-catalog.mjs\` from
[the catalog](../packages/run-store/src/metrics.ts).

${sections.join('\n')}`;
}

/** Lists the problems with docs/metrics.md. */
export async function checkMetricsPage(root) {
  const path = join(root, TARGET);
  const isCurrent = existsSync(path) && readFileSync(path, 'utf8') === (await metricsPage(root));
  return isCurrent ? [] : [`${TARGET} is not current. Run node scripts/metrics-catalog.mjs.`];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  writeFileSync(join(root, TARGET), await metricsPage(root));
}
