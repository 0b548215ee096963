/**
 * Finds packages that read environment variables. Only `cli` and `train` may: below them, a value
 * comes from the caller, so that what a function does follows from its arguments.
 *
 *   node scripts/check-environment.mjs [root]
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Visitor } from 'oxc-parser';
import { readAllowances } from './allowances.mjs';
import { isTest, listCode, parse, shown } from './source-files.mjs';

const READERS = new Set(['cli', 'train']);

/** Lines of a source text that read the environment. */
export function environmentReads(text, name = 'file.ts') {
  if (!/\benv\b/.test(text)) return [];
  const lines = [];
  const note = ({ start }) => lines.push(text.slice(0, start).split('\n').length);
  const isProcess = (node) => node.type === 'Identifier' && node.name === 'process';
  const isMeta = (node) => node.type === 'MetaProperty';
  new Visitor({
    MemberExpression(node) {
      const { object, property } = node;
      const key = property.name ?? property.value;
      if (key === 'env' && (isProcess(object) || isMeta(object))) note(node);
    },
    VariableDeclarator(node) {
      if (node.id.type !== 'ObjectPattern' || node.init === null || !isProcess(node.init)) return;
      if (node.id.properties.some(({ key }) => key?.name === 'env')) note(node);
    },
    ImportDeclaration(node) {
      if (!/^(node:)?process$/.test(node.source.value)) return;
      if (node.specifiers.some(({ imported }) => imported?.name === 'env')) note(node);
    },
  }).visit(parse(text, name).program);
  return lines;
}

/** Every read of the environment below `cli` and `train` that has no reason, one sentence each. */
export function checkEnvironment(root) {
  const reasons = readAllowances(root).environment ?? {};
  const reading = new Set();
  const problems = listCode(join(root, 'packages'), /(?<!\.d)\.ts$/).flatMap((path) => {
    const where = shown(root, path);
    const [, name, inside] = where.split('/');
    if (READERS.has(name) || inside !== 'src' || isTest(path)) return [];
    const lines = environmentReads(readFileSync(path, 'utf8'), basename(path));
    if (lines.length > 0) reading.add(where);
    if (reasons[where] !== undefined) return [];
    return lines.map(
      (line) =>
        `${where}:${line} reads the environment. Take the value as an argument; only ` +
        'cli and train read environment variables.',
    );
  });
  const stale = Object.keys(reasons).filter((where) => !reading.has(where));
  return [
    ...problems,
    ...stale.map(
      (where) =>
        `scripts/allowances.json lets ${where} read the environment, which it does not. Remove it.`,
    ),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)));
  const problems = checkEnvironment(root);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
