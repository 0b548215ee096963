/**
 * Checks how the code hangs together: imports go down `layers.json` only and are declared in
 * package.json, no file is part of an import cycle, no file is longer than 400 lines.
 *
 *   node scripts/check-layers.mjs [root]
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAX_LINES = 400;
const SCOPE = '@saccade/';
/** Where people write code, and the kinds of files that count. */
const CODE_FOLDERS = ['packages', 'kernels', 'native', 'scripts', 'bench', 'examples', '.ci'];
const CODE_FILE = /\.(ts|tsx|mjs|js|cc|cu|cuh|h|py|wgsl)$/;
const SKIPPED = new Set(['node_modules', 'dist', 'build', '__pycache__', 'results', '.venv']);
const IMPORT =
  /^\s*(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]\s*\)/gm;

/** Files below a folder that people wrote, sorted. */
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

/** Module specifiers of a source text; `isType` marks what the compiler erases. */
export function importsOf(text) {
  return [...text.matchAll(IMPORT)].map((match) => ({
    specifier: match[2] ?? match[3],
    isType: match[1] !== undefined,
  }));
}

function isTest(path) {
  return /\.(test|fixture)\.tsx?$/.test(path);
}

/** `@saccade/core/x` → `@saccade/core`, `zod/v4` → `zod`. */
function packageOf(specifier) {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0];
}

/** What is wrong with the imports of one package. */
function checkPackage(root, name, layers, rootManifest) {
  const folder = join(root, 'packages', name);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const dependencies = { ...manifest.dependencies, ...manifest.peerDependencies };
  const forTests = {
    ...dependencies,
    ...manifest.devDependencies,
    ...rootManifest.devDependencies,
  };
  const problems = [];
  const level = layers.indexOf(name);
  if (level < 0) {
    problems.push(`packages/${name} is not in scripts/layers.json. Put it above what it imports.`);
  }
  const used = new Set();
  for (const path of listCode(join(folder, 'src'), /\.tsx?$/)) {
    const where = relative(root, path);
    const declared = isTest(path) ? forTests : dependencies;
    const text = readFileSync(path, 'utf8');
    for (const target of Object.keys(dependencies)) {
      // Data packages are found by require.resolve('name/file') instead of an import.
      if (text.includes(`'${target}'`) || text.includes(`'${target}/`)) used.add(target);
      // Types of a platform are referred to: /// <reference types="…" />.
      if (text.includes(`types="${target}"`)) used.add(target);
    }
    for (const { specifier } of importsOf(text)) {
      if (specifier.startsWith('.')) {
        const target = join(dirname(path), specifier);
        if (relative(folder, target).startsWith('..')) {
          problems.push(
            `${where} imports ${specifier}, a path of another package. Import by name.`,
          );
        } else if (!existsSync(target)) {
          problems.push(`${where} imports ${specifier}, which does not exist.`);
        }
        continue;
      }
      if (specifier.startsWith('node:') || builtinModules.includes(specifier)) continue;
      // A file with a variant for browsers, by its name in the package's own imports.
      if (specifier.startsWith('#')) {
        if (manifest.imports?.[specifier] === undefined) {
          problems.push(
            `${where} imports ${specifier}, which packages/${name}/package.json lacks.`,
          );
        }
        continue;
      }
      const target = packageOf(specifier);
      if (declared[target] === undefined) {
        problems.push(`${where} imports ${target}, which packages/${name}/package.json lacks.`);
      }
      if (!target.startsWith(SCOPE)) continue;
      const other = target.slice(SCOPE.length);
      const otherLevel = layers.indexOf(other);
      if (otherLevel >= 0 && otherLevel >= level) {
        problems.push(`${where} imports ${target}, which is not below ${name} in layers.json.`);
      }
    }
  }
  for (const target of Object.keys(manifest.dependencies ?? {})) {
    if (used.has(target)) continue;
    problems.push(`packages/${name}/package.json declares ${target}, which nothing imports.`);
  }
  return problems;
}

/** Cycles among the files of a package; type-only imports are erased and cannot make one. */
function findCycles(root, folder) {
  const files = listCode(folder, /\.tsx?$/).filter((path) => !isTest(path));
  const edges = new Map(
    files.map((path) => [
      path,
      importsOf(readFileSync(path, 'utf8'))
        .filter(({ specifier, isType }) => specifier.startsWith('.') && !isType)
        .map(({ specifier }) => join(dirname(path), specifier)),
    ]),
  );
  const problems = [];
  const state = new Map();
  const visit = (path, trail) => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      const cycle = [...trail.slice(trail.indexOf(path)), path];
      const names = cycle.map((file) => relative(root, file));
      problems.push(
        `${names.join(' → ')} is an import cycle. Move what both need into a third file.`,
      );
      return;
    }
    state.set(path, 'open');
    for (const target of edges.get(path) ?? []) visit(target, [...trail, path]);
    state.set(path, 'done');
  };
  for (const path of files) visit(path, []);
  return problems;
}

function findLongFiles(root) {
  return CODE_FOLDERS.flatMap((folder) => listCode(join(root, folder))).flatMap((path) => {
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n').length;
    if (lines <= MAX_LINES) return [];
    return [`${relative(root, path)} has ${lines} lines, ${MAX_LINES} is the limit. Split it.`];
  });
}

/** Everything that is wrong below `root`, one sentence each. */
export function checkLayers(root) {
  const layers = JSON.parse(readFileSync(join(root, 'scripts', 'layers.json'), 'utf8'));
  const rootManifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const names = readdirSync(join(root, 'packages'))
    .filter((name) => existsSync(join(root, 'packages', name, 'package.json')))
    .sort();
  return [
    ...names.flatMap((name) => checkPackage(root, name, layers, rootManifest)),
    ...names.flatMap((name) => findCycles(root, join(root, 'packages', name, 'src'))),
    ...findLongFiles(root),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)));
  const problems = checkLayers(root);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
