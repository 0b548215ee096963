/**
 * Runs tests on an addon built with a sanitizer of the compiler.
 *
 *   npm run sanitize -- address [what vitest takes]   AddressSanitizer, UndefinedBehaviorSanitizer
 *   npm run sanitize -- thread [what vitest takes]    ThreadSanitizer
 *
 * Without more words: the addon's own tests and every test of its kernels. The sanitizer's library,
 * which comes with the compiler, is loaded before Node; Linux only. The first run builds for some
 * minutes, into native/build/<sanitizer>.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const native = join(root, 'native');

const SANITIZERS = {
  address: {
    flags: 'address,undefined',
    library: 'libasan.so',
    // Node leaves memory to the end of the process; a test asks for more than there is.
    options: {
      ASAN_OPTIONS: 'detect_leaks=0:allocator_may_return_null=1',
      UBSAN_OPTIONS: 'print_stacktrace=1',
    },
    prefix: [],
  },
  thread: {
    flags: 'thread',
    library: 'libtsan.so',
    // Node is built without it: only what the addon touches is looked at.
    options: {
      TSAN_OPTIONS: 'ignore_noninstrumented_modules=1 allocator_may_return_null=1 exitcode=66',
    },
    // It wants addresses where it expects them.
    prefix: ['setarch', '-R'],
  },
};

const TESTS = [
  ...['native/test', 'packages/backend-native', 'packages/attention', 'packages/logprob'],
  // Emulated threads change stacks all the time. The sanitizers follow each change, for hours; or warn
  // of it where a test reads what a process says; or, for threads, end.
  ...['--exclude', '**/cuda-{index-maps,kernels,queue,rows}.test.ts'],
];

/** Where the package lies that a folder of the workspace depends on. */
function folderOf(name, from) {
  return dirname(createRequire(join(from, 'package.json')).resolve(`${name}/package.json`));
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

const [name, ...words] = process.argv.slice(2);
const sanitizer = SANITIZERS[name];
if (sanitizer === undefined) {
  fail(`Usage: npm run sanitize -- ${Object.keys(SANITIZERS).join('|')} [vitest arguments]`);
}
const compiler = process.env.CXX ?? 'c++';
const found = spawnSync(compiler, [`-print-file-name=${sanitizer.library}`], { encoding: 'utf8' });
const library = found.stdout?.trim() ?? '';
if (!isAbsolute(library)) {
  fail(`${compiler} has no ${sanitizer.library}. Install GCC's sanitizer libraries (Linux only).`);
}

const folder = join(native, 'build', name);
mkdirSync(folder, { recursive: true });
const logPath = join(folder, 'build.log');
const log = openSync(logPath, 'w');
const cmake = join(folderOf('cmake-js', native), 'bin', 'cmake-js');
console.error(`Building with ${sanitizer.flags} (some minutes, the first time) …`);
for (const target of [[], ['--target', 'saccade-cuda-emulated']]) {
  const built = spawnSync(
    process.execPath,
    [
      cmake,
      'build',
      '--out',
      folder,
      `--CDSACCADE_SANITIZE=${sanitizer.flags}`,
      '--parallel',
      String(availableParallelism()),
      ...target,
    ],
    { cwd: native, stdio: ['ignore', log, log] },
  );
  if (built.status !== 0) fail(`The build failed; see ${logPath}.`);
}

const vitest = join(folderOf('vitest', root), 'vitest.mjs');
const [command, ...args] = [
  ...sanitizer.prefix,
  process.execPath,
  vitest,
  'run',
  // One at a time: a sanitizer takes several times the memory.
  '--maxWorkers=1',
  '--testTimeout=1200000',
  ...(words.length > 0 ? words : TESTS),
];
const run = spawnSync(command, args, {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    ...sanitizer.options,
    LD_PRELOAD: library,
    SACCADE_ADDON: join(folder, 'Release', 'saccade.node'),
  },
});
process.exitCode = run.status ?? 1;
