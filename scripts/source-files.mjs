/** The source files of the project, and what the parser says of them: imports, exports, comments. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** Folders that hold code. */
export const CODE_FOLDERS = [
  ...['packages', 'kernels', 'native', 'scripts', 'bench', 'examples', '.ci'],
];
const CODE_FILE = /\.(ts|tsx|mjs|js|cc|cu|cuh|h|py|wgsl)$/;
const SKIPPED = new Set(['node_modules', 'dist', 'build', '__pycache__', 'results', '.venv']);

/** Source files below a folder, sorted; generated files are left out. */
export function listCode(folder, pattern = CODE_FILE) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      if (SKIPPED.has(entry.name)) return [];
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return listCode(path, pattern);
      return entry.isFile() && pattern.test(entry.name) ? [path] : [];
    })
    .sort();
}

/** Whether a file exists for tests only. */
export function isTest(path) {
  return /\.(test|fixture)\.tsx?$/.test(path);
}

/** The syntax tree of a source text; the file's name says which language it is. */
export function parse(text, name = 'file.ts') {
  return parseSync(name, text);
}

/**
 * Module specifiers that a source text imports, re-exports, or names in a type.
 *
 * @returns {{ specifier: string, isType: boolean }[]}  `isType`: the compiler erases the import
 */
export function importsOf(text, name = 'file.ts') {
  const { program, module } = parse(text, name);
  const areTypes = (entries) => entries.length > 0 && entries.every((entry) => entry.isType);
  const found = [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({
      specifier: moduleRequest.value,
      isType: areTypes(entries),
    })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries
        .filter(({ moduleRequest }) => moduleRequest !== null)
        .map(({ moduleRequest, isType }) => ({ specifier: moduleRequest.value, isType })),
    ),
  ];
  if (/\bimport\s*\(/.test(text)) {
    const add = (source, isType) => {
      if (typeof source?.value === 'string') found.push({ specifier: source.value, isType });
    };
    new Visitor({
      ImportExpression: ({ source }) => add(source, false),
      TSImportType: ({ source }) => add(source, true),
    }).visit(program);
  }
  return found;
}

/**
 * Every package of the repository, the root's scripts last.
 *
 * @returns {{ name: string, folder: string, manifest: object }[]}  `name` without the scope;
 *   `folder` relative to the root, '' for the root itself
 */
export function listPackages(root) {
  const below = (folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder))
          .sort()
          .map((name) => `${folder}/${name}`)
      : [];
  const folders = [...below('packages'), 'kernels/webgpu', 'native', 'bench', ...below('examples')];
  return [...folders, '']
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .map((folder) => {
      const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
      return {
        name: (manifest.name ?? folder).replace(/^(@saccade|packages)\//, ''),
        folder,
        manifest,
      };
    });
}

/** TypeScript and JavaScript files of a package. */
export function listModules(root, { folder }) {
  const pattern = /(?<!\.d)\.(ts|tsx|mjs|js)$/;
  const path = join(root, folder);
  // The packages lie below the root; its own code is in scripts.
  return folder === '' ? listCode(join(root, 'scripts'), pattern) : listCode(path, pattern);
}

/** `path` as people write it: relative to the root. */
export function shown(root, path) {
  return relative(root, path).replaceAll('\\', '/');
}
