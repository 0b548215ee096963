/**
 * Checks that the table "one file, one line" of CONTRIBUTING.md is true: the folders and catalogs it
 * names exist, and every catalog of the repository has its row.
 *
 *   node scripts/check-contributing.mjs [root]
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listCode, shown } from './source-files.mjs';

/** `packages/{ops,attention}/src/ops` → both paths. */
function expand(path) {
  const match = /^(.*?)\{([^}]*)\}(.*)$/.exec(path);
  if (match === null) return [path];
  const [, before, choices, after] = match;
  return choices.split(',').flatMap((choice) => expand(`${before}${choice}${after}`));
}

/** The folders that the rows of the table tell people to write a file in. */
function rowsOf(text) {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\|[\s-]+\|/.test(line))
    .map((line) => ({ line, cells: line.split('|').map((cell) => cell.trim()) }));
}

/** Everything in CONTRIBUTING.md that is not so, one sentence each. */
export function checkContributing(root) {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const problems = [];
  const folders = new Set();
  const names = new Set();
  for (const { cells } of rowsOf(text)) {
    const [, name, write = ''] = cells;
    if (name === 'to add') continue;
    if (names.has(name)) problems.push(`CONTRIBUTING.md has two rows for ${name}. Remove one.`);
    names.add(name);
    for (const [, path] of write.matchAll(/`([\w{},./-]+\/)[\w.-]*`/g)) {
      for (const folder of expand(path).map((one) => one.replace(/\/$/, ''))) {
        folders.add(folder);
        if (existsSync(join(root, folder))) continue;
        problems.push(`CONTRIBUTING.md: ${name} goes into ${folder}, which does not exist.`);
      }
    }
  }
  for (const [, target] of text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)) {
    if (target.includes('/catalog.')) folders.add(dirname(target));
    if (existsSync(join(root, target))) continue;
    problems.push(`CONTRIBUTING.md links to ${target}, which does not exist.`);
  }
  const catalogs = ['packages', 'kernels'].flatMap((folder) =>
    listCode(join(root, folder), /^catalog\.(ts|inc)$/),
  );
  // A row may stand for its siblings, as that of surrogates does for all parts of algorithms.
  const siblings = (folder) => [...folders].some((known) => dirname(known) === dirname(folder));
  for (const catalog of catalogs) {
    const folder = dirname(shown(root, catalog));
    if (folders.has(folder) || (folder.includes('/algorithms/') && siblings(folder))) continue;
    problems.push(`CONTRIBUTING.md has no row for ${shown(root, catalog)}. Add one.`);
  }
  return problems;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)));
  const problems = checkContributing(root);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
