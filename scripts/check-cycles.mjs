/**
 * Finds files that import each other, directly or through others. Imports of types count: who reads
 * one of such files has to read them all.
 *
 *   node scripts/check-cycles.mjs [root]
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CODE_FOLDERS, importsOf, isTest, listCode, shown } from './source-files.mjs';

/** The shortest way from a file back to itself within a set of files. */
function shortestCycle(start, edges, within) {
  const before = new Map([[start, undefined]]);
  const queue = [start];
  for (const path of queue) {
    for (const target of edges.get(path)) {
      if (target === start) {
        const trail = [start];
        for (let at = path; at !== undefined; at = before.get(at)) trail.unshift(at);
        return trail;
      }
      if (!within.has(target) || before.has(target)) continue;
      before.set(target, path);
      queue.push(target);
    }
  }
  return [start];
}

/** Strongly connected components with a cycle (Tarjan 1972). */
function findComponents(edges) {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const open = new Set();
  const components = [];
  const visit = (path) => {
    index.set(path, index.size);
    low.set(path, index.get(path));
    stack.push(path);
    open.add(path);
    for (const target of edges.get(path)) {
      if (!index.has(target)) visit(target);
      if (open.has(target)) low.set(path, Math.min(low.get(path), low.get(target)));
    }
    if (low.get(path) !== index.get(path)) return;
    const component = new Set();
    for (let at; at !== path; ) {
      at = stack.pop();
      open.delete(at);
      component.add(at);
    }
    if (component.size > 1 || edges.get(path).includes(path)) components.push(component);
  };
  for (const path of edges.keys()) if (!index.has(path)) visit(path);
  return components;
}

/** A sentence for every group of files that import each other, with its shortest cycle. */
export function checkCycles(root) {
  const files = CODE_FOLDERS.flatMap((folder) =>
    listCode(join(root, folder), /\.(ts|tsx|mjs|js)$/),
  );
  const known = new Set(files.filter((path) => !isTest(path)));
  const edges = new Map(
    [...known].map((path) => [
      path,
      importsOf(readFileSync(path, 'utf8'), basename(path))
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => join(dirname(path), specifier))
        .filter((target) => known.has(target)),
    ]),
  );
  return findComponents(edges).map((component) => {
    const cycles = [...component].map((path) => shortestCycle(path, edges, component));
    cycles.sort((a, b) => a.length - b.length);
    const trail = cycles[0].map((path) => shown(root, path)).join(' → ');
    const more = component.size >= cycles[0].length ? ` (${component.size} files in all)` : '';
    return `${trail} is an import cycle${more}. Move what both need into a third file.`;
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)));
  const problems = checkCycles(root);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
