/**
 * The packages as their users have them: packs every package, installs the tarballs in an empty
 * folder outside the clone, and does there what the README of `saccade init` says.
 * `scripts/first-programs.mjs` tries packages alone, `scripts/clean-root.mjs` without a compiler.
 *
 *   npm run pack-test              # leaves nothing behind
 *   npm run pack-test -- --keep    # keeps the folder
 *
 * Other dependencies come from the npm registry. The addon is that of `node native/prebuild.mjs`, in
 * the package of this machine's platform; without it, the one that this clone built is used.
 */
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addonPath, platformOf } from '../native/index.js';
import { packSpecs, readJson, runCommand, useTarballs } from './packed-project.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const work = mkdtempSync(join(tmpdir(), 'saccade-pack-'));
const project = join(work, 'my-agent');

const isPrebuilt = existsSync(join(root, 'native', 'prebuilt', platformOf() ?? 'none'));
const environment = {
  ...process.env,
  // A clone has its own Python environment; an installed package uses the user's cache.
  XDG_CACHE_HOME: join(work, 'cache'),
  ...(!isPrebuilt && { SACCADE_ADDON: addonPath() }),
};

/** Runs a command; the test ends where its exit status is not the expected one. */
function run(folder, command, args, options = {}) {
  console.error(`pack-test: ${command} ${args.join(' ')}`.slice(0, 160));
  return runCommand(folder, command, args, { env: environment, ...options });
}

function expectText(output, pattern) {
  if (!pattern.test(output)) throw new Error(`expected ${pattern}, got:\n${output}`);
}

const saccade = (args, options) =>
  run(project, 'npx', ['--no-install', 'saccade', ...args], options);

/** Trains until `text` is on the screen, then ends the process without a warning. */
async function killAt(text, args) {
  console.error(`pack-test: saccade ${args.join(' ')}, killed at "${text}"`);
  const bin = join(project, 'node_modules/@saccade/cli/bin/saccade.js');
  const child = spawn(process.execPath, [bin, ...args], { cwd: project, env: environment });
  let output = '';
  await new Promise((resolve, reject) => {
    const read = (chunk) => {
      output += chunk;
      if (output.includes(text)) child.kill('SIGKILL');
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (!output.includes(text)) throw new Error(`the run ended without "${text}":\n${output}`);
}

function install(specs) {
  const empty = join(work, 'install');
  mkdirSync(empty);
  const cli = { '@saccade/cli': specs['@saccade/cli'] };
  writeFileSync(join(empty, 'package.json'), JSON.stringify({ private: true, dependencies: cli }));
  useTarballs(empty, specs);
  run(empty, 'npm', ['install', '--no-audit', '--no-fund']);
  run(empty, 'npx', ['--no-install', 'saccade', 'init', project]);
  useTarballs(project, specs);
  run(project, 'npm', ['install', '--no-audit', '--no-fund']);
}

async function useProject() {
  run(project, 'npm', ['test']);
  run(project, 'npm', ['run', 'check']);

  const shown = saccade(['recipes', 'show', './my-recipe.ts']);
  expectText(shown, /taskSet\.contrast = 6/);
  expectText(shown, /reward\.few-calls\.mostCalls = 1/);

  const misspelt = ['train', './my-recipe.ts', '--set', 'taskSet.contrst=8'];
  expectText(saccade(misspelt, { status: 2 }), /Did you mean taskSet\.contrast\?/);

  const train = ['train', './my-recipe.ts', '--steps', '3', '--out', 'runs/first'];
  const settings = ['--set', 'sft.updates=8', '--set', 'taskSet.contrast=8'];
  await killAt('learning          2/3', [...train, ...settings, '--set', 'trackers=csv']);
  const resumed = saccade(['train', '--resume', 'runs/first']);
  expectText(resumed, /Held-out accuracy/);
  const { config } = readJson(join(project, 'runs/first/config.json'));
  if (config.taskSet.contrast !== 8) throw new Error('--set did not reach the task set');
  const rows = (name) =>
    readFileSync(join(project, 'runs/first', name), 'utf8')
      .trim()
      .split('\n');
  const [logged, tracked] = [rows('metrics.jsonl').length, rows('metrics.csv').length - 1];
  if (tracked !== logged) throw new Error(`${tracked} rows in metrics.csv, ${logged} logged`);

  expectText(saccade(['eval', 'runs/first', '--count', '4']), /Accuracy .* over 4 held-out tasks/);

  appendFileSync(join(project, 'src/reward.ts'), '\n// Changed.\n');
  expectText(saccade(['eval', 'runs/first', '--count', '4']), /has changed since/);
  const recipe = join(project, 'my-recipe.ts');
  renameSync(recipe, `${recipe}.gone`);
  expectText(saccade(['train', '--resume', 'runs/first'], { status: 1 }), /Put the file back/);
  renameSync(`${recipe}.gone`, recipe);
}

let isOk = false;
try {
  const specs = await packSpecs(root);
  install(specs);
  await useProject();
  isOk = true;
  console.log('pack-test: the packages work outside the clone.');
} catch (error) {
  console.error(`pack-test: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  if (process.argv.includes('--keep') || !isOk) console.error(`pack-test: see ${work}`);
  else rmSync(work, { recursive: true });
}
