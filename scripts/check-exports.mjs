/**
 * Counts public exports without a doc comment, package by package, against the numbers in
 * `allowances.json`, which may only fall.
 *
 *   node scripts/check-exports.mjs [package …]   lists the exports that lack a comment
 *   node scripts/check-exports.mjs --write       lowers the numbers to what is left
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readAllowances, writeAllowances } from './allowances.mjs';
import { listPackages, parse, shown } from './source-files.mjs';

const files = new Map();

/** The exports of one file: its own declarations, with their comments, and what it passes on. */
function readFile(path) {
  const known = files.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(path, 'utf8');
  const { program, module, comments } = parse(text, basename(path));
  const documented = (start) => {
    const before = comments.findLast(({ end }) => end <= start);
    if (before === undefined || !/^\s*$/.test(text.slice(before.end, start))) return false;
    return before.type === 'Block' && before.value.startsWith('*');
  };
  const declared = new Map();
  for (const statement of program.body) {
    const isExport = statement.type === 'ExportNamedDeclaration';
    const declaration = isExport ? statement.declaration : statement;
    const names = (declaration?.declarations ?? [declaration])
      .map((one) => one?.id?.name)
      .filter((name) => name !== undefined);
    // One comment is enough for an overloaded function.
    for (const name of names) {
      declared.set(name, declared.get(name) === true || documented(statement.start));
    }
  }
  const imported = new Map(
    module.staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.map((entry) => [
        entry.localName.value,
        { from: moduleRequest.value, name: entry.importName.name ?? '*' },
      ]),
    ),
  );
  const exported = module.staticExports.flatMap(({ entries }) => entries);
  const read = { declared, imported, exported };
  files.set(path, read);
  return read;
}

/** Exports of a file by name: the file that declares each, and whether it has a comment. */
function exportsOf(path) {
  const { declared, imported, exported } = readFile(path);
  const found = new Map();
  const follow = (specifier, name, as) => {
    // Declarations of another package are documented, or counted, there.
    if (!specifier.startsWith('.')) return;
    const target = join(dirname(path), specifier);
    const there = exportsOf(target);
    if (name === '*') for (const [key, value] of there) found.set(key, value);
    else found.set(as, there.get(name) ?? { path: target, isDocumented: true });
  };
  for (const { moduleRequest, importName, exportName, localName } of exported) {
    const as = exportName.name ?? localName.name ?? 'default';
    if (moduleRequest !== null) {
      // `export * as name`: the name itself is a folder of units.
      if (importName.kind === 'All') found.set(as, { path, isDocumented: true });
      else follow(moduleRequest.value, importName.name ?? '*', as);
    } else if (imported.has(localName.name)) {
      const { from, name } = imported.get(localName.name);
      if (name !== '*') follow(from, name, as);
    } else {
      found.set(as, { path, isDocumented: declared.get(localName.name) ?? true });
    }
  }
  return found;
}

/** Source files of a package's entry points. */
function entriesOf(root, { folder, manifest }) {
  return Object.values(manifest.exports ?? {})
    .map((target) => target['@saccade/source'])
    .filter((source) => source !== undefined)
    .map((source) => join(root, folder, source))
    .filter((path) => /\.tsx?$/.test(path) && existsSync(path));
}

/**
 * Public exports without a doc comment.
 *
 * @returns {Map<string, string[]>}  by package: `file: name`, sorted
 */
export function findUndocumented(root) {
  files.clear();
  return new Map(
    listPackages(root).map((own) => {
      const missing = new Set();
      for (const entry of entriesOf(root, own)) {
        for (const [name, { path, isDocumented }] of exportsOf(entry)) {
          if (!isDocumented) missing.add(`${shown(root, path)}: ${name}`);
        }
      }
      return [own.name, [...missing].sort()];
    }),
  );
}

/** Packages with more exports without a comment than they are allowed. */
export function checkExports(root) {
  const { undocumented = {} } = readAllowances(root);
  return [...findUndocumented(root)].flatMap(([name, missing]) => {
    const most = undocumented[name] ?? 0;
    if (missing.length <= most) return [];
    return [
      `${name} has ${missing.length} public exports without a doc comment, ${most} are allowed. ` +
        `Write a sentence above those that are new:\n  ${missing.join('\n  ')}`,
    ];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const all = findUndocumented(root);
  const names = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
  if (process.argv.includes('--write')) {
    const before = readAllowances(root).undocumented ?? {};
    const undocumented = Object.fromEntries(
      [...all]
        .map(([name, { length }]) => [name, Math.min(length, before[name] ?? length)])
        .filter(([, count]) => count > 0),
    );
    writeAllowances(root, { ...readAllowances(root), undocumented });
  }
  let count = 0;
  for (const [name, missing] of all) {
    count += missing.length;
    if (names.length > 0 && !names.includes(name)) continue;
    if (missing.length > 0) console.log(`${name}: ${missing.length}\n  ${missing.join('\n  ')}`);
  }
  console.log(`${count} public exports have no doc comment.`);
}
