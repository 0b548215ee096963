/**
 * The resources of a multiprocessor that each CUDA kernel uses, as ptxas reported in the latest
 * build, against the table of their budgets.
 *
 *   node native/cuda/budgets.mjs          compares; says what is over
 *   node native/cuda/budgets.mjs --write  makes the table what it is now; spills stay errors
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const tablePath = join(root, 'kernels', 'cuda', 'budgets.json');
/** The reports that keep-ptxas-report.sh left beside the objects. */
const reportsFolder = join(root, 'native', 'build', 'work', 'cuda');

/**
 * Reads what ptxas said of one source file.
 *
 * @returns by kernel and architecture: registers, static shared memory, stack and spills in bytes
 */
export function readReport(text, file) {
  const uses = [];
  for (const line of text.split('\n')) {
    const entry = /Compiling entry function '(\S+)' for '(\S+)'/.exec(line);
    if (entry !== null) {
      const [, symbol, architecture] = entry;
      uses.push({ file, symbol, architecture, registers: 0, sharedBytes: 0, spillBytes: 0 });
    }
    const use = uses.at(-1);
    if (use === undefined) continue;
    const stack = /(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill/.exec(line);
    if (stack !== null) {
      use.stackBytes = Number(stack[1]);
      use.spillBytes = Number(stack[2]) + Number(stack[3]);
    }
    const used = /Used (\d+) registers/.exec(line);
    if (used !== null) {
      use.registers = Number(used[1]);
      use.sharedBytes = Number(/(\d+) bytes smem/.exec(line)?.[1] ?? 0);
    }
  }
  return uses;
}

/** A demangled symbol as people call it: `multiplyMatrices<F16, float>`. */
export function nameOf(demangled) {
  const plain = demangled
    .replaceAll(/\(anonymous namespace\)::|_GLOBAL__N__\w+::|saccade::/g, '')
    .replace(/^void /, '');
  let depth = 0;
  for (let i = 0; i < plain.length; i++) {
    const letter = plain[i];
    if (letter === '<') depth++;
    else if (letter === '>') depth--;
    else if (letter === '(' && depth === 0) return plain.slice(0, i);
  }
  return plain;
}

/**
 * The kernels over their budgets, one sentence each.
 *
 * @param uses    of all kernels, with their names
 * @param budgets by `file kernel`, then architecture: { registers, sharedBytes, stackBytes }
 */
export function findExcess(uses, budgets) {
  const remedy = 'Make it smaller, or run `node native/cuda/budgets.mjs --write` and say why.';
  return uses.flatMap((use) => {
    const { spillBytes, architecture } = use;
    const where = `${use.key} on ${architecture}`;
    if (spillBytes > 0) return [`${where} spills ${spillBytes} bytes. Make its tile smaller.`];
    const budget = budgets[use.key]?.[architecture];
    if (budget === undefined) return [`${where} has no budget. ${remedy}`];
    return ['registers', 'sharedBytes', 'stackBytes'].flatMap((name) => {
      const [most, taken] = [budget[name] ?? 0, use[name] ?? 0];
      return taken > most
        ? [`${where} takes ${taken} ${name}, its budget is ${most}. ${remedy}`]
        : [];
    });
  });
}

/** The version of nvcc, as 13.0; undefined where there is none. */
export function nvccVersion() {
  const { stdout } = spawnSync('nvcc', ['--version'], { encoding: 'utf8' });
  return /release (\d+\.\d+)/.exec(stdout ?? '')?.[1];
}

/** The resources that the kernels of the latest build use; empty if none were built for CUDA. */
export function readUses() {
  if (!existsSync(reportsFolder)) return [];
  const uses = readdirSync(reportsFolder, { recursive: true })
    .filter((name) => name.endsWith('.cu.o.ptxas'))
    .flatMap((name) => {
      const text = readFileSync(join(reportsFolder, name), 'utf8');
      return readReport(text, basename(name, '.cu.o.ptxas'));
    });
  const symbols = uses.map(({ symbol }) => symbol).join('\n');
  const { stdout, status } = spawnSync('c++filt', { input: symbols, encoding: 'utf8' });
  if (status !== 0) throw new Error('c++filt is missing. Install binutils.');
  const names = stdout.split('\n');
  return uses.map((use, i) => ({ ...use, key: `${use.file} ${nameOf(names[i])}` }));
}

export function readBudgets() {
  return existsSync(tablePath)
    ? JSON.parse(readFileSync(tablePath, 'utf8'))
    : { nvcc: undefined, kernels: {} };
}

function writeBudgets(uses) {
  const kernels = {};
  const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  for (const use of [...uses].sort((a, b) => order(a.key, b.key))) {
    const { registers, sharedBytes, stackBytes } = use;
    kernels[use.key] ??= {};
    kernels[use.key][use.architecture] = {
      registers,
      ...(sharedBytes > 0 && { sharedBytes }),
      ...(stackBytes > 0 && { stackBytes }),
    };
  }
  writeFileSync(tablePath, JSON.stringify({ nvcc: nvccVersion(), kernels }));
  spawnSync(join(root, 'node_modules', '.bin', 'biome'), ['format', '--write', tablePath]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const uses = readUses();
  if (process.argv.includes('--write')) writeBudgets(uses);
  const excess = findExcess(uses, readBudgets().kernels);
  for (const sentence of excess) console.error(sentence);
  console.log(`${uses.length} compiled kernels, ${excess.length} over budget.`);
  process.exitCode = excess.length > 0 ? 1 : 0;
}
