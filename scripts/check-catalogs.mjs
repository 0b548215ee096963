/**
 * Checks the catalogs: every unit file beside a `catalog.ts` is registered there under the name of
 * its file, and every kernel file stands in its `catalog.inc`.
 *
 *   node scripts/check-catalogs.mjs [root]
 *
 * A file that a registered unit imports is a part of that unit and needs no line.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importsOf, listCode } from './source-files.mjs';

const LINE = /^export \{ (\w+(?:, \w+)*) \} from '\.\/([\w-]+)\.ts';$/;

export function camelCase(name) {
  return name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
}

export function kebabCase(name) {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
}

/** Files of `folder` that can be reached from `start` by relative imports. */
function reachableFrom(start, folder) {
  const seen = new Set();
  const visit = (path) => {
    if (seen.has(path) || dirname(path) !== folder || !existsSync(path)) return;
    seen.add(path);
    for (const { specifier } of importsOf(readFileSync(path, 'utf8'), basename(path))) {
      if (specifier.startsWith('.')) visit(join(folder, specifier));
    }
  };
  visit(start);
  return seen;
}

function checkCatalog(root, catalog) {
  const folder = dirname(catalog);
  const where = relative(root, catalog);
  const problems = [];
  const lines = readFileSync(catalog, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  for (const line of lines) {
    const match = LINE.exec(line);
    if (match === null) {
      problems.push(`${where}: "${line}" is not of the form export { unit } from './unit.ts';`);
      continue;
    }
    const [, names, file] = match;
    // A file may hold variants of its unit: rmsNorm, rmsNormFast.
    const strange = names.split(', ').find((name) => !name.startsWith(camelCase(file)));
    if (!existsSync(join(folder, `${file}.ts`))) {
      problems.push(`${where} registers ./${file}.ts, which does not exist.`);
    } else if (strange !== undefined) {
      problems.push(`${where} exports ${strange} from ./${file}.ts; call it ${camelCase(file)}.`);
    }
  }
  const registered = reachableFrom(catalog, folder);
  for (const path of listCode(folder, /\.ts$/)) {
    if (dirname(path) !== folder || /\.(test|fixture)\.ts$/.test(path) || registered.has(path)) {
      continue;
    }
    const unit = basename(path, '.ts');
    problems.push(
      `${relative(root, path)} is not registered. Add to ${where}: ` +
        `export { ${camelCase(unit)} } from './${unit}.ts';`,
    );
  }
  return problems;
}

function checkKernels(root, catalog) {
  const folder = dirname(catalog);
  const where = relative(root, catalog);
  const text = readFileSync(catalog, 'utf8');
  const files = new Set(
    [...text.matchAll(/^KERNEL\((\w+)\)/gm)].map((match) => kebabCase(match[1])),
  );
  const present = new Set(
    readdirSync(folder)
      .filter((name) => /\.(cc|cu)$/.test(name))
      .map((name) => name.replace(/\.\w+$/, '')),
  );
  return [
    ...[...files]
      .filter((file) => !present.has(file))
      .map((file) => `${where} registers ${camelCase(file)}, but there is no ${file}.cc or .cu.`),
    ...[...present]
      .filter((file) => !files.has(file))
      .map(
        (file) =>
          `${join(relative(root, folder), file)} is not registered. ` +
          `Add to ${where}: KERNEL(${camelCase(file)})`,
      ),
  ];
}

/** Everything that is wrong with the catalogs below `root`, one sentence each. */
export function checkCatalogs(root) {
  const catalogs = listCode(join(root, 'packages'), /^catalog\.ts$/);
  const kernels = listCode(join(root, 'kernels'), /^catalog\.inc$/);
  return [
    ...catalogs.flatMap((catalog) => checkCatalog(root, catalog)),
    ...kernels.flatMap((catalog) => checkKernels(root, catalog)),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)));
  const problems = checkCatalogs(root);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
