/**
 * Checks how the packages hang together: imports go down `layers.json` only and are declared in
 * package.json, every declared dependency is imported, no file is longer than 400 lines, and no
 * file or folder has a name that says nothing.
 *
 *   node scripts/check-layers.mjs [root]
 */
import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  CODE_FOLDERS,
  importsOf,
  isTest,
  listCode,
  listModules,
  listPackages,
  shown,
} from './source-files.mjs';

const MAX_LINES = 400;
const SCOPE = '@saccade/';
/** Dependencies that a tool looks up by itself: cmake-js finds the headers of addons. */
const FOUND_BY_TOOLS = new Set(['node-addon-api']);
const EMPTY_NAMES = new Set(['utils', 'helpers', 'common', 'misc', 'base', 'manager']);

/** `@saccade/core/x` → `@saccade/core`, `zod/v4` → `zod`. */
function packageOf(specifier) {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0];
}

/** Whether a file is for development only: a test, or a script that is not shipped. */
function isForDevelopment(path, { folder, manifest }) {
  const inside = path.slice(folder.length + 1);
  const isShipped = inside.startsWith('src/') || folder === 'kernels/webgpu' || folder === 'native';
  return isTest(path) || manifest.private === true || !isShipped || inside.startsWith('test/');
}

/** Imports by relative path. */
function checkPath(root, path, specifier, folder) {
  const target = join(dirname(path), specifier);
  const where = shown(root, path);
  // The root's scripts test and build the packages, so they may reach into them; tests use both.
  const isScript = folder === '' || (isTest(path) && shown(root, target).startsWith('scripts/'));
  if (!isScript && relative(join(root, folder), target).startsWith('..')) {
    return [`${where} imports ${specifier}, a path of another package. Import by name.`];
  }
  // The compiler's output need not exist yet.
  if (/\/dist\//.test(target) || existsSync(target)) return [];
  return [`${where} imports ${specifier}, which does not exist.`];
}

/** Everything that is wrong with the imports of one package. */
function checkPackage(root, own, layers, rootManifest) {
  const { name, folder, manifest } = own;
  const manifestPath = join(folder, 'package.json');
  const dependencies = {
    ...manifest.dependencies,
    ...manifest.peerDependencies,
    ...manifest.optionalDependencies,
  };
  const forDevelopment = {
    ...dependencies,
    ...manifest.devDependencies,
    ...rootManifest.devDependencies,
    // A package may import itself by name, as its users do.
    ...(manifest.name !== undefined && { [manifest.name]: '' }),
  };
  const problems = [];
  // Programs of the repository, which nothing may import, stand above every package.
  const level = manifest.private === true ? layers.length : layers.indexOf(name);
  if (level < 0) {
    problems.push(`${folder} is not in scripts/layers.json. Put ${name} above what it imports.`);
  }
  const mentioned = [JSON.stringify(manifest.scripts ?? {})];
  for (const file of ['tsconfig.json', 'vite.config.ts']) {
    const path = join(root, folder, file);
    if (existsSync(path)) mentioned.push(readFileSync(path, 'utf8'));
  }
  for (const path of listModules(root, own)) {
    const where = shown(root, path);
    const declared = isForDevelopment(where, own) ? forDevelopment : dependencies;
    const text = readFileSync(path, 'utf8');
    mentioned.push(text);
    for (const { specifier } of importsOf(text, basename(path))) {
      if (specifier.startsWith('.')) {
        problems.push(...checkPath(root, path, specifier, folder));
        continue;
      }
      if (specifier.startsWith('node:') || builtinModules.includes(specifier)) continue;
      // A file with a variant for browsers, by its name in the package's own imports.
      if (specifier.startsWith('#')) {
        if (manifest.imports?.[specifier] === undefined) {
          problems.push(`${where} imports ${specifier}, which ${manifestPath} lacks.`);
        }
        continue;
      }
      const target = packageOf(specifier);
      if (declared[target] === undefined) {
        problems.push(`${where} imports ${target}, which ${manifestPath} lacks.`);
      }
      // Tests may compare with a package above.
      if (!target.startsWith(SCOPE) || target === manifest.name || isTest(path)) continue;
      const other = target.slice(SCOPE.length);
      const otherLevel = layers.indexOf(other);
      if (level >= 0 && otherLevel >= level) {
        problems.push(`${where} imports ${target}, which is not below ${name} in layers.json.`);
      }
    }
  }
  return [...problems, ...findUnused(own, mentioned.join('\n'))];
}

/** Declared dependencies that no file names. */
function findUnused({ folder, manifest }, text) {
  // The root's are tools, which npm scripts and checks run.
  if (folder === '') return [];
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter((target) => !FOUND_BY_TOOLS.has(target))
    .filter((target) => {
      // Types of a package are used where the package is.
      const name = target.replace(/^@types\//, '');
      return !new RegExp(`['"\`]${name}['"\`/]|\\b${name} `).test(text);
    })
    .map((target) => `${join(folder, 'package.json')} declares ${target}, which nothing imports.`);
}

function findLongFiles(root) {
  return CODE_FOLDERS.flatMap((folder) => listCode(join(root, folder))).flatMap((path) => {
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n').length;
    if (lines <= MAX_LINES) return [];
    return [`${shown(root, path)} has ${lines} lines, ${MAX_LINES} is the limit. Split it.`];
  });
}

/** Files and folders with a name that says nothing about what is in them. */
function findEmptyNames(root) {
  const paths = new Set();
  for (const path of CODE_FOLDERS.flatMap((folder) => listCode(join(root, folder)))) {
    const parts = shown(root, path).split('/');
    parts.forEach((part, i) => {
      if (EMPTY_NAMES.has(part.split('.')[0])) paths.add(parts.slice(0, i + 1).join('/'));
    });
  }
  return [...paths].map((path) => `${path}: the name says nothing. Name it after what is in it.`);
}

function checkOrder(layers, packages) {
  const names = new Set(packages.map(({ name }) => name));
  const repeated = layers.filter((name, i) => layers.indexOf(name) !== i);
  return [
    ...layers
      .filter((name) => !names.has(name))
      .map((name) => `scripts/layers.json lists ${name}, which is no package. Remove it.`),
    ...repeated.map((name) => `scripts/layers.json lists ${name} twice. Remove one.`),
  ];
}

/** Everything that is wrong below `root`, one sentence each. */
export function checkLayers(root) {
  const layers = JSON.parse(readFileSync(join(root, 'scripts', 'layers.json'), 'utf8'));
  const packages = listPackages(root);
  const rootManifest = packages.at(-1).manifest;
  return [
    ...checkOrder(layers, packages),
    ...packages.flatMap((own) => checkPackage(root, own, layers, rootManifest)),
    ...findLongFiles(root),
    ...findEmptyNames(root),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)));
  const problems = checkLayers(root);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
