/**
 * Writes docs/catalog.md: every unit of @saccade/algorithms with its equation and paper, from the
 * comments of the code, and every algorithm with its settings and profiles, from the code itself.
 *
 *   node scripts/algorithm-catalog.mjs          # writes it, from the compiled packages
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { kebabCase } from './check-catalogs.mjs';

const SOURCE = 'packages/algorithms/src';
const TARGET = 'docs/catalog.md';

/** Folder, heading, and what a unit of it is. */
const kinds = [
  ['advantages', 'Advantages of a group', '[G] rewards → [G], by `groupAdvantages`.'],
  ['token-advantages', 'Advantages of tokens', 'The whole step → [N], by `tokenAdvantages`.'],
  ['ratios', 'Ratios', 'The setting `ratio`: `sequenceRatioSum` is `sequence-sum`, and so on.'],
  ['surrogates', 'Surrogates', 'ℓ per token, to be minimized.'],
  ['kl', 'KL', 'The setting `kl`; with `+` it has the gradient of k2.'],
  ['aggregations', 'Aggregations', 'The setting `aggregation`: loss = Σₜ weightₜ·lossₜ.'],
  ['corrections', 'Corrections', 'The settings `correction…` and `rejection…`, by `correct`.'],
  ['selectors', 'Selectors', 'Marks of a whole minibatch, by `select`.'],
  ['coefficients', 'Adaptive coefficients', 'From one step to the next; state in, state out.'],
];

/** Sentence, equation and the paragraph after it, of the comment above an exported function. */
export function commentOf(text, name) {
  const end = text.search(new RegExp(`\\n \\*/\\nexport (async )?(function|const) ${name}\\b`));
  if (end < 0) return undefined;
  const start = text.lastIndexOf('/**', end);
  const lines = text
    .slice(start + 3, end)
    .split('\n')
    .map((line) => line.replace(/^ \* ?/, ''));
  const paragraphs = [[]];
  for (const line of lines) {
    if (line.startsWith('@')) break;
    if (line.trim() === '') paragraphs.push([]);
    else paragraphs.at(-1).push(line);
  }
  const filled = paragraphs.filter((paragraph) => paragraph.length > 0);
  const isEquation = (paragraph) => paragraph.every((line) => line.startsWith('  '));
  return {
    sentence: (filled[0] ?? []).join(' ').trim(),
    equation: filled
      .filter(isEquation)
      .flat()
      .map((line) => line.slice(2)),
    paper: (filled.slice(1).find((paragraph) => !isEquation(paragraph)) ?? []).join(' ').trim(),
  };
}

function unitSection(root, folder) {
  const catalog = readFileSync(join(root, SOURCE, folder, 'catalog.ts'), 'utf8');
  const sections = [];
  for (const [, names, file] of catalog.matchAll(/^export \{ (.+) \} from '\.\/(.+)\.ts';$/gm)) {
    const text = readFileSync(join(root, SOURCE, folder, `${file}.ts`), 'utf8');
    for (const name of names.split(', ')) {
      const comment = commentOf(text, name);
      if (comment === undefined || comment.equation.length === 0 || comment.paper === '') {
        throw new Error(
          `${SOURCE}/${folder}/${file}.ts: the comment of ${name} needs a sentence, its equation ` +
            'indented by two spaces, and a paragraph that begins with the paper.',
        );
      }
      const source = `[\`${name}\`](../${SOURCE}/${folder}/${file}.ts)`;
      sections.push(
        `### ${source}\n\n${comment.sentence}\n\n` +
          `\`\`\`text\n${comment.equation.join('\n')}\n\`\`\`\n\n${comment.paper}\n`,
      );
    }
  }
  return sections.join('\n');
}

/** Units an algorithm's file imports by itself. */
function unitsOf(text) {
  const units = [];
  for (const [, names, folder] of text.matchAll(
    /^import \{ (.+) \} from '\.\.\/(advantages|token-advantages|surrogates|selectors)\//gm,
  )) {
    const values = names.split(', ').filter((name) => !name.startsWith('type '));
    for (const name of values) units.push([folder, name]);
  }
  if (/\bgroupRelative\(/.test(text))
    units.push(['advantages', 'groupMean or groupStd, by `scale`']);
  if (/\bgradientOrClip\(/.test(text)) {
    units.push(['surrogates', 'clipped or logProbability, by `surrogate`']);
  }
  const order = kinds.map(([folder]) => folder);
  units.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  return units.map(([, name]) => (name.includes(' ') ? name : `\`${name}\``));
}

const written = (settings) =>
  Object.entries(settings)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

/** Settings of `a` that `b` has not, or has otherwise. */
function changed(a, b) {
  return Object.fromEntries(Object.entries(a).filter(([name, value]) => b[name] !== value));
}

function algorithmSection(root, algorithm, defaults) {
  const file = `${SOURCE}/algorithms/${kebabCase(algorithm.file)}.ts`;
  const text = readFileSync(join(root, file), 'utf8');
  const { about, name, paper, description, settings, profiles, needs, stages } = {
    about: commentOf(text, algorithm.file),
    ...algorithm.unit,
  };
  const rows = profiles.map((profile) => {
    const own = changed(algorithm.unit.profile(profile).settings, settings);
    return `- \`${profile}\`: ${written(own) || 'as it is'}`;
  });
  return [
    `### [\`${name}\`](../${file})`,
    '',
    `${description} ${paper}.`,
    '',
    ...(about ? [about.sentence, ''] : []),
    `Made of ${unitsOf(text).join(', ')}; ${written(changed(settings, defaults)) || 'no settings of its own'}.`,
    ...(needs.length > 0 ? [`Needs ${needs.map((need) => `\`${need}\``).join(', ')}.`] : []),
    ...(stages.length > 0 ? [`Stages: ${stages.map((stage) => `\`${stage}\``).join(', ')}.`] : []),
    '',
    ...(rows.length > 0 ? ['Profiles, and what they change:', '', ...rows] : ['No profiles.']),
    '',
  ].join('\n');
}

/** The text of docs/catalog.md. Needs the packages compiled. */
export async function algorithmCatalog(root) {
  const built = join(root, 'packages/algorithms/dist');
  if (!existsSync(join(built, 'index.js'))) {
    throw new Error(
      'packages/algorithms is not compiled. Run npx tsc -b packages/algorithms first.',
    );
  }
  const load = (path) => import(pathToFileURL(join(built, path)).href);
  const { sharedSettings } = await load('index.js');
  const core = pathToFileURL(join(root, 'packages/core/dist/settings.js')).href;
  const { listSettings } = await import(core);
  const units = Object.entries(await load('algorithms/catalog.js'))
    .map(([file, unit]) => ({ file, unit }))
    .sort((a, b) => (a.unit.name < b.unit.name ? -1 : 1));
  const defaults = Object.fromEntries(
    Object.entries(sharedSettings).map(([name, field]) => [name, field.def.defaultValue]),
  );
  const row = ({ path, range, unit, about }) => {
    const value = path in defaults ? `\`${defaults[path]}\`` : '';
    const words = range.replace(/^one of /, '').replaceAll('|', '\\|');
    return `| \`${path}\` | ${value} | ${words} | ${unit} | ${about} |`;
  };
  const shared = Object.keys(sharedSettings);
  const fields = new Map();
  for (const { unit } of units) {
    for (const field of listSettings(unit.schema)) {
      const key = shared.includes(field.path) ? field.path : `${field.path} ${field.about}`;
      if (!fields.has(key)) fields.set(key, field);
    }
  }
  return [
    '# Algorithms, units, equations',
    '',
    '<!-- Written by scripts/algorithm-catalog.mjs from the code; do not edit. -->',
    '',
    'The contents of [@saccade/algorithms](../packages/algorithms/README.md). An algorithm is a choice',
    'of units and their numbers; a profile sets the numbers as a paper or a library has them.',
    '',
    '## Algorithms',
    '',
    ...units.map((unit) => algorithmSection(root, unit, defaults)),
    '## Settings',
    '',
    'Every algorithm has those with a default here; the others belong to the units of some. A setting',
    'takes effect while a unit that reads it is chosen: `algorithm.reads` lists those that do.',
    '',
    '| setting | default | range | unit | meaning |',
    '| --- | --- | --- | --- | --- |',
    ...[...fields.values()].map(row),
    '',
    ...kinds.flatMap(([folder, heading, about]) => [
      `## ${heading}`,
      '',
      about,
      '',
      unitSection(root, folder),
    ]),
  ]
    .join('\n')
    .replace(/\n{3,}/g, '\n\n');
}

/** Lists the problems with docs/catalog.md. */
export async function checkAlgorithmCatalog(root) {
  try {
    const text = await algorithmCatalog(root);
    const path = join(root, TARGET);
    if (existsSync(path) && readFileSync(path, 'utf8') === text) return [];
    return [`${TARGET} is stale. Run node scripts/algorithm-catalog.mjs.`];
  } catch (error) {
    return [error.message];
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  writeFileSync(join(root, TARGET), await algorithmCatalog(root));
}
