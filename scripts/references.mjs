/**
 * The `references` of every tsconfig.json, which follow from what the package's files import. Without
 * one, the compiler would compile the sources of the other package as if they were this one's.
 *
 *   node scripts/references.mjs           says what differs
 *   node scripts/references.mjs --write   writes them
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importsOf, listModules, listPackages } from './source-files.mjs';

const SCOPE = '@saccade/';

/** Whether the compiler takes a file of a package, by the package's tsconfig.json. */
function isCompiled(path, { exclude = [] }) {
  if (!path.endsWith('.ts') || path.endsWith('.test.ts')) return false;
  return !path.endsWith('.fixture.ts') || !exclude.some((glob) => glob.endsWith('.fixture.ts'));
}

/** Packages that are compiled, with the folders their references should name. */
function expectedReferences(root) {
  const layers = JSON.parse(readFileSync(join(root, 'scripts', 'layers.json'), 'utf8'));
  const position = ({ name }) => (layers.includes(name) ? layers.indexOf(name) : layers.length);
  const compiled = listPackages(root)
    .filter(({ folder }) => folder !== '' && existsSync(join(root, folder, 'tsconfig.json')))
    .sort((a, b) => position(a) - position(b));
  const byName = new Map(compiled.map((own) => [own.manifest.name, own]));
  const rows = compiled.map((own) => {
    const path = join(root, own.folder, 'tsconfig.json');
    const config = JSON.parse(readFileSync(path, 'utf8'));
    const source = join(root, own.folder, config.compilerOptions.rootDir);
    const imported = new Set(
      listModules(root, own)
        .filter((file) => !relative(source, file).startsWith('..') && isCompiled(file, config))
        .flatMap((file) => importsOf(readFileSync(file, 'utf8'), basename(file)))
        .filter(({ specifier }) => specifier.startsWith(SCOPE))
        .map(({ specifier }) => specifier.split('/').slice(0, 2).join('/')),
    );
    const wanted = compiled.filter((other) => other !== own && imported.has(other.manifest.name));
    return { path, config, wanted: wanted.map(({ folder }) => relative(own.folder, folder)) };
  });
  const path = join(root, 'tsconfig.json');
  const config = JSON.parse(readFileSync(path, 'utf8'));
  return [...rows, { path, config, wanted: [...byName.values()].map(({ folder }) => folder) }];
}

/** Everything that is wrong with the references, one sentence each. */
export function checkReferences(root) {
  return expectedReferences(root).flatMap(({ path, config, wanted }) => {
    const given = (config.references ?? []).map((reference) => reference.path);
    const where = relative(root, path);
    const remedy = 'Run node scripts/references.mjs --write.';
    return [
      ...wanted
        .filter((folder) => !given.includes(folder))
        .map((folder) => `${where} lacks a reference to ${folder}, which is imported. ${remedy}`),
      ...given
        .filter((folder) => !wanted.includes(folder))
        .map((folder) => `${where} refers to ${folder}, which nothing imports. ${remedy}`),
    ];
  });
}

/** Writes the references in the order of the layers. @returns files that changed */
export function writeReferences(root) {
  return expectedReferences(root).flatMap(({ path, config, wanted }) => {
    const references = wanted.map((folder) => ({ path: folder }));
    if (JSON.stringify(references) === JSON.stringify(config.references)) return [];
    // biome keeps short lists on one line, and objects as they were begun.
    const text = JSON.stringify({ ...config, references }, null, 2).replaceAll(
      /\[\s+("[^[\]{}]*?")\s+\]/g,
      (_, list) => `[${list.replaceAll(/\s*\n\s*/g, ' ')}]`,
    );
    writeFileSync(path, `${text}\n`);
    return [relative(root, path)];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  if (process.argv.includes('--write')) {
    for (const path of writeReferences(root)) console.log(path);
  } else {
    const problems = checkReferences(root);
    for (const problem of problems) console.error(problem);
    process.exitCode = problems.length > 0 ? 1 : 0;
  }
}
