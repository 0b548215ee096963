// Makes the parity cases anew with scipy, statsmodels and scikit-learn, and compares them with those
// that are kept. src/parity.test.ts compares our results with the kept ones, without Python.
//
//   node packages/statistics/parity/check.mjs --python path/to/python [--write]
//
// The Python needs the packages of requirements.txt beside this file.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const kept = join(here, 'fixtures.json');
// Another version of scipy sums in another order.
const GATE = 1e-9;

const flag = process.argv.indexOf('--python');
const python = flag > 0 ? process.argv[flag + 1] : 'python3';
try {
  execFileSync(python, ['-c', 'import scipy, statsmodels, sklearn'], { stdio: 'pipe' });
} catch {
  console.error(
    `${python} cannot import scipy, statsmodels and sklearn. Install them with\n` +
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

const directory = mkdtempSync(join(tmpdir(), 'saccade-statistics-'));
let failures = 0;
try {
  const made = join(directory, 'fixtures.json');
  execFileSync(python, [join(here, 'generate.py'), made], { stdio: ['ignore', 'inherit', 'pipe'] });
  if (process.argv.includes('--write')) copyFileSync(made, kept);
  const [theirs, ours] = [made, kept].map((path) => JSON.parse(readFileSync(path, 'utf8')));
  for (const name of new Set([...Object.keys(theirs), ...Object.keys(ours)])) {
    const error = difference(theirs[name] ?? 0, ours[name] ?? 1);
    const isGood = error <= GATE;
    if (!isGood) failures++;
    const count = ours[name]?.length ?? 0;
    console.log(
      `${isGood ? 'ok  ' : 'FAIL'}  ${name}: ${count} cases, largest difference ` +
        error.toExponential(2),
    );
  }
} catch (error) {
  failures++;
  console.error(error.stderr?.toString() ?? error);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
console.log(failures === 0 ? 'Parity holds.' : `Parity is broken: ${failures} differ.`);
process.exitCode = failures === 0 ? 0 : 1;
