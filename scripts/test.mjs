// Runs the checks, then the tests; what follows on the command line goes to vitest.
import { spawn, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const run = (command, args) => {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};
const given = process.argv.slice(2);
// The checks need one processor most of the time, and nothing of the addon.
const begun = (script, ...args) =>
  new Promise((resolve) => {
    const command = [join(root, script), ...args];
    const child = spawn(process.execPath, command, { cwd: root, stdio: 'inherit' });
    child.on('error', () => resolve(1));
    child.on('close', (code) => resolve(code ?? 1));
  });
const statuses = await Promise.all([
  ...(given.length === 0 ? [begun('scripts/check.mjs')] : []),
  begun('native/build.mjs', '--tests'),
]);
const refused = statuses.find((status) => status !== 0);
if (refused !== undefined) process.exit(refused);
if (process.env.SACCADE_SWEEP === undefined) {
  console.error('Some tests have fewer cases than there are; `npm run sweep` runs all of them.');
}
// A machine that reads results, not people, names a file for them here.
const results = process.env.SACCADE_TEST_JSON;
const reporters = results
  ? ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`]
  : [];
run(join(root, 'node_modules', '.bin', 'vitest'), ['run', ...reporters, ...given]);
