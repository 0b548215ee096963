// Runs the checks, then the tests; what follows on the command line goes to vitest.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const run = (command, args) => {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};
const given = process.argv.slice(2);
if (given.length === 0) run(process.execPath, [join(root, 'scripts', 'check.mjs')]);
run(process.execPath, [join(root, 'native', 'build.mjs'), '--emulator']);
// A machine that reads results, not people, names a file for them here.
const results = process.env.SACCADE_TEST_JSON;
const reporters = results
  ? ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`]
  : [];
run(join(root, 'node_modules', '.bin', 'vitest'), ['run', ...reporters, ...given]);
