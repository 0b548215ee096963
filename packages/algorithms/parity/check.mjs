// Regenerates the parity fixtures with TRL and torch, and compares them with those that are kept.
//
//   node packages/algorithms/parity/check.mjs --python path/to/python [--write]
//
// The Python needs the packages of requirements.txt beside this file.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const kept = join(here, 'fixtures.json');
// Another version of torch or another processor rounds exp differently in its last digits.
const GATE = 1e-11;

const flag = process.argv.indexOf('--python');
const python = flag > 0 ? process.argv[flag + 1] : 'python3';
try {
  execFileSync(python, ['-c', 'import torch, trl'], { stdio: 'pipe' });
} catch {
  console.error(
    `${python} cannot import torch and trl. Install them with\n` +
      `  ${python} -m pip install -r ${join(here, 'requirements.txt')}`,
  );
  process.exit(2);
}

/** Largest difference of all numbers, Infinity where anything else differs. */
function difference(a, b) {
  if (typeof a === 'number' && typeof b === 'number') {
    return Math.abs(a - b) / Math.max(1, Math.abs(a), Math.abs(b));
  }
  if (typeof a !== 'object' || typeof b !== 'object') return a === b ? 0 : Infinity;
  const keys = Object.keys(a);
  if (keys.join() !== Object.keys(b).join()) return Infinity;
  let largest = 0;
  for (const key of keys) {
    const own = difference(a[key], b[key]);
    // NaN must not pass for a small number.
    if (!(own <= largest)) largest = own;
  }
  return largest;
}

const directory = mkdtempSync(join(tmpdir(), 'saccade-parity-'));
let failures = 0;
try {
  const made = join(directory, 'fixtures.json');
  execFileSync(python, [join(here, 'generate.py'), made], { stdio: ['ignore', 'inherit', 'pipe'] });
  if (process.argv.includes('--write')) copyFileSync(made, kept);
  const [theirs, ours] = [made, kept].map((path) => JSON.parse(readFileSync(path, 'utf8')));
  const names = new Set([...theirs, ...ours].map(({ name }) => name));
  for (const name of names) {
    const [one, other] = [theirs, ours].map((cases) => cases.find((own) => own.name === name));
    const error = one && other ? difference(one, other) : Infinity;
    const isGood = error <= GATE;
    if (!isGood) failures++;
    console.log(
      `${isGood ? 'ok  ' : 'FAIL'}  ${name}: largest difference ${error.toExponential(2)}`,
    );
  }
} catch (error) {
  console.error(String(error.stderr ?? error));
  failures++;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
console.log(failures === 0 ? 'Parity holds.' : `${failures} comparison(s) failed.`);
process.exit(failures === 0 ? 0 : 1);
