/**
 * Packs what checks and times the CUDA and WebGPU kernels on a machine that has only Linux x64,
 * NVIDIA's driver and Python with torch: the addon, saccade-cuda.so, Dawn, our JavaScript in two files,
 * the Python of the peers, Node itself.
 *
 *   node bench/gpu/pack.mjs              → bench/gpu/build/saccade-gpu.tar.gz
 *   node bench/gpu/pack.mjs --folder DIR   the same as a folder, without Node; for tests also with
 *                          --emulated      the emulated library
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'vite';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const built = join(root, 'native', 'build', 'Release');
/** Size limit for a rented machine, in bytes; the packed file must stay below it. */
const MOST_BYTES = 64e6;

class PackError extends Error {}

/**
 * @param {string} folder  emptied and filled
 * @param {{ hasNode: boolean, emulated: boolean }} options
 * @throws PackError if something was not built
 */
export async function pack(folder, { hasNode, emulated }) {
  rmSync(folder, { recursive: true, force: true });
  for (const name of ['native', 'bench/gpu', 'bench/dist/gpu', 'bench/peers']) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  const libraries = [
    'saccade.node',
    ...(emulated ? ['saccade-cuda-emulated.so'] : ['saccade-cuda.so']),
  ];
  for (const name of libraries) {
    const from = join(built, name);
    if (!existsSync(from)) {
      const run = emulated
        ? 'Run `node native/build.mjs --tests`'
        : 'With nvcc 12 or newer on the PATH run `SACCADE_CUDA=ON node native/build.mjs`';
      throw new PackError(
        `${relative(root, from)} was not built. ${run} at the root of the clone, then this again.`,
      );
    }
    copyStripped(from, join(folder, 'native', name));
  }
  for (const name of ['torch_ops.py', 'torch_variants.py']) {
    copyFileSync(join(root, 'bench/peers', name), join(folder, 'bench/peers', name));
  }
  copyDawn(join(folder, 'bench/dist/gpu/node_modules/webgpu'));
  copyFileSync(join(here, 'run.sh'), join(folder, 'bench/gpu/run.sh'));
  writeFileSync(join(folder, 'commit'), `${commit()}\n`);
  if (hasNode) copyStripped(process.execPath, join(folder, 'node'));
  // Where the files of the peers are found from, as in the clone.
  const scripts = join(folder, 'bench/dist/gpu');
  await bundle(
    join(root, 'bench/src/gpu/packed.ts'),
    "import { main } from './main.ts';\nawait main(process.argv.slice(2));\n",
    join(scripts, 'saccade-gpu.mjs'),
  );
  await bundle(
    join(root, 'packages/cli/src/packed.ts'),
    "import { LazyCommand } from './commands/lazy-command.ts';\n" +
      "import { addDoctor } from './commands/doctor.ts';\n" +
      "const program = new LazyCommand('saccade');\naddDoctor(program);\n" +
      'await program.parseAsync(process.argv);\n',
    join(scripts, 'doctor.mjs'),
  );
}

const fromBenny = createRequire(createRequire(join(root, 'bench/package.json')).resolve('benny'));

/** One file of a program and all it imports; `code` is bundled as if it lay at `start`. */
async function bundle(start, code, to) {
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    plugins: [
      {
        name: 'start',
        enforce: 'pre',
        resolveId: (id) => (id === start ? start : undefined),
        load: (id) => (id === start ? code : undefined),
      },
      {
        // Under Benny. It looks for lodash by a function of its own, which no bundler follows.
        name: 'benchmark',
        transform: (text, id) =>
          id.endsWith('/benchmark/benchmark.js')
            ? `const lodash = require('lodash');\n${text.replace("require('lodash')", 'lodash')}`
            : undefined,
      },
    ],
    // Benny requires it, and gets no functions of the module that a bundler would choose.
    resolve: { alias: { kleur: fromBenny.resolve('kleur') } },
    ssr: {
      noExternal: true,
      // A native module, which lies beside the programs.
      external: ['webgpu'],
      resolve: { conditions: ['@saccade/source', 'module', 'node', 'import'] },
    },
    build: {
      ssr: start,
      outDir: dirname(to),
      emptyOutDir: false,
      target: 'es2023',
      minify: true,
      rolldownOptions: {
        input: start,
        output: { entryFileNames: basename(to), codeSplitting: false },
      },
    },
  });
}

/** Dawn in the npm package webgpu, for this platform alone. */
function copyDawn(folder) {
  const from = dirname(createRequire(join(root, 'bench/package.json')).resolve('webgpu'));
  const binary = join('dist', `${process.platform}-${process.arch}`, 'dawn.node');
  mkdirSync(dirname(join(folder, binary)), { recursive: true });
  copyStripped(join(from, binary), join(folder, binary));
  for (const name of ['index.js', 'package.json'])
    copyFileSync(join(from, name), join(folder, name));
}

/** A copy without symbols; as it is where there is no `strip`. */
function copyStripped(from, to) {
  const { status } = spawnSync('strip', ['-o', to, from]);
  if (status !== 0) copyFileSync(from, to);
  chmodSync(to, 0o755);
}

function commit() {
  const args = ['describe', '--always', '--dirty', '--exclude=*', '--abbrev=12'];
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : 'unknown';
}

const megabytes = (path) => `${(statSync(path).size / 1e6).toFixed(1)} MB`;

function makeArchive(folder) {
  const archive = `${folder}.tar.gz`;
  // Renamed when it is whole: half an archive unpacks to something.
  const args = ['-czf', `${archive}.new`, '-C', dirname(folder), basename(folder)];
  const { status, stderr } = spawnSync('tar', args, { encoding: 'utf8' });
  if (status !== 0) throw new PackError(`tar ended with ${status}: ${stderr}`);
  renameSync(`${archive}.new`, archive);
  return archive;
}

async function run() {
  const { values } = parseArgs({
    options: { folder: { type: 'string' }, emulated: { type: 'boolean', default: false } },
  });
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new PackError(`This is ${process.platform}-${process.arch}; pack on Linux x64.`);
  }
  const folder = resolve(values.folder ?? join(here, 'build', 'saccade-gpu'));
  const hasNode = values.folder === undefined;
  await pack(folder, { hasNode, emulated: values.emulated });
  for (const name of ['node', 'native/saccade-cuda.so', 'native/saccade.node']) {
    if (existsSync(join(folder, name))) console.log(`${name}: ${megabytes(join(folder, name))}`);
  }
  if (!hasNode) return;
  const archive = makeArchive(folder);
  rmSync(folder, { recursive: true });
  console.log(`${relative(process.cwd(), archive)}: ${megabytes(archive)}`);
  if (statSync(archive).size > MOST_BYTES) {
    throw new PackError(`It is larger than ${MOST_BYTES / 1e6} MB. Leave out an architecture.`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
