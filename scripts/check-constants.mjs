/**
 * Finds numbers in units of a run that nobody can set: numeric constants of a module, default
 * arguments, and numbers in object literals, whose names are no setting of any unit. Each is either
 * made a setting (zod, with meaning, unit, range and default; see docs/settings.md) or stands in
 * `constants.json` with the reason why nobody would set it.
 *
 *   node scripts/check-constants.mjs           # lists them; needs the compiled packages
 *
 * It cannot see a number in the middle of an expression: give what could be tuned a name.
 */
import { readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Visitor } from 'oxc-parser';
import { isTest, listCode, parse } from './source-files.mjs';

/** Packages whose code decides what a run does; those below them are kernels, files and servers. */
const PACKAGES = [
  ...[
    'algorithms',
    'code-effects',
    'data',
    'eval',
    'gym',
    'hub',
    'learner',
    'loop',
    'math-verify',
    'optim',
  ],
  ...['policy', 'report', 'rewards', 'rollout', 'sandbox', 'schedulers', 'tools', 'trackers'],
  ...['train', 'trajectory'],
];
/** Files with which others test their units, and those that attack the sandbox. */
const OUTSIDE = /\/(contract[\w-]*\.ts$|attacks\/|checks\/|recipes\/)/;
/** Counts and signs, which mean what they say. */
const PLAIN = new Set([-1, 0, 1]);
/** Keys of what describes a field, of sizes of lists, and of HTTP. */
const KEYS = new Set(['min', 'max', 'default', 'length', 'status']);

const REASONS = 'scripts/constants.json';

/** The value of an expression of number literals; undefined for any other. */
function numberOf(node) {
  if (node?.type === 'Literal') return typeof node.value === 'number' ? node.value : undefined;
  if (node?.type === 'UnaryExpression') {
    const value = numberOf(node.argument);
    return node.operator === '-' && value !== undefined ? -value : undefined;
  }
  if (node?.type !== 'BinaryExpression') return undefined;
  const [left, right] = [numberOf(node.left), numberOf(node.right)];
  // The value does not matter, only that it is a number.
  return left === undefined || right === undefined ? undefined : Number.NaN;
}

const isNumber = (node) => {
  const value = numberOf(node);
  return value !== undefined && !PLAIN.has(value);
};

/** Numbers of a source text that have a name: the name, and the line they stand on. */
export function namedNumbers(text, name = 'file.ts') {
  const { program } = parse(text, name);
  const found = new Map();
  const note = (key, start) => {
    if (key !== undefined && !found.has(key))
      found.set(key, text.slice(0, start).split('\n').length);
  };
  for (const statement of program.body) {
    const { declaration = statement } = statement;
    for (const one of declaration?.declarations ?? []) {
      if (isNumber(one.init)) note(one.id.name, one.start);
    }
  }
  new Visitor({
    AssignmentPattern: ({ left, right, start }) => {
      if (isNumber(right)) note(left.name, start);
    },
    LogicalExpression: ({ operator, left, right, start }) => {
      const word = left.name ?? left.property?.name;
      if (operator === '??' && isNumber(right)) note(word, start);
    },
    Property: ({ key, value, start }) => {
      const word = key.name ?? key.value;
      if (isNumber(value) && !KEYS.has(word)) note(String(word), start);
    },
  }).visit(program);
  return found;
}

/** Every word that `--set` reaches a field by, at the end of its path. */
async function settingNames(root) {
  const compiled = join(root, 'packages/train/dist/index.js');
  const { fieldsOf, slots } = await import(pathToFileURL(compiled).href);
  const names = new Set();
  const add = (fields) => {
    for (const { path } of fields) names.add(path.split('.').at(-1));
  };
  add(fieldsOf({}));
  for (const [key, { registry }] of Object.entries(slots)) {
    for (const name of registry.names) add(fieldsOf({ [key]: name }));
  }
  return names;
}

/** Why a number is no setting: of its name in its file, or of its file, or of its folder. */
export function reasonOf(reasons, path, name) {
  const own = reasons[path];
  if (typeof own === 'string') return own;
  if (own?.[name] !== undefined) return own[name];
  const folder = Object.keys(reasons).find((one) => one.endsWith('/') && path.startsWith(one));
  return folder === undefined ? undefined : reasons[folder];
}

/** Lists the problems, one sentence each. */
export async function checkConstants(root) {
  const reasons = JSON.parse(readFileSync(join(root, REASONS), 'utf8'));
  const settings = await settingNames(root);
  const problems = [];
  const used = new Set();
  for (const name of PACKAGES) {
    for (const path of listCode(join(root, 'packages', name, 'src'), /\.ts$/)) {
      const where = relative(root, path);
      if (isTest(path) || OUTSIDE.test(where)) continue;
      for (const [word, line] of namedNumbers(readFileSync(path, 'utf8'), basename(path))) {
        if (settings.has(word)) continue;
        if (reasonOf(reasons, where, word) !== undefined) {
          used.add(`${where} ${word}`);
          continue;
        }
        problems.push(
          `${where}:${line}: ${word} is a number that nobody can set. Make it a setting of its ` +
            `unit, or give the reason in ${REASONS}.`,
        );
      }
    }
  }
  return [...problems, ...staleReasons(reasons, used)];
}

/** Reasons for what is no longer there. */
function staleReasons(reasons, used) {
  const all = [...used];
  return Object.entries(reasons).flatMap(([path, own]) => {
    const names = typeof own === 'string' ? [''] : Object.keys(own);
    return names
      .filter(
        (name) =>
          !all.some((one) => (name === '' ? one.startsWith(path) : one === `${path} ${name}`)),
      )
      .map(
        (name) => `${REASONS}: there is no number ${name} in ${path} any more. Remove the line.`,
      );
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const problems = await checkConstants(root);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
