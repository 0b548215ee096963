/**
 * Installs packed tarballs where there is nothing but Node: a root of its own by bubblewrap, without a
 * compiler, CMake, make, Python or git. Attention and its kernels have to install within seconds and
 * give gradients; the algorithms alone have to be small.
 *
 *   npm run pack-clean             after `node native/prebuild.mjs`; needs bubblewrap
 *   npm run pack-clean -- --keep   keeps the folder
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { platformOf } from '../native/index.js';
import { installedBytes } from './installed-size.mjs';
import { expectPrebuilt, packSpecs, runCommand, startProject } from './packed-project.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const MOST_SECONDS = 15;
const MOST_BYTES = 1_000_000;
const ABSENT = ['cc', 'gcc', 'g++', 'c++', 'clang', 'cmake', 'make', 'ninja', 'python3', 'python'];

/** Files outside that Node, npm and the network need; all of the root besides the project. */
function shownFiles() {
  const node = realpathSync(process.execPath);
  const shell = realpathSync('/bin/sh');
  const libraries = [node, shell].flatMap((program) => {
    const { stdout } = spawnSync('ldd', [program], { encoding: 'utf8' });
    return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path);
  });
  // The name service opens its parts by name.
  const folders = [...new Set(libraries.map((path) => dirname(realpathSync(path))))];
  const services = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /^lib(nss_(dns|files)|resolv)\.so/.test(name))
      .map((name) => join(folder, name)),
  );
  const settings = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/ssl'];
  return [
    ...new Set([...libraries, ...services, ...settings].filter((path) => existsSync(path))),
  ].map((path) => ['--ro-bind', realpathSync(path), path]);
}

/** The arguments of bubblewrap: an empty root with Node, npm, a shell, and `work` as /work. */
function bubblewrap(work) {
  const npm = dirname(dirname(realpathSync(findOnPath('npm'))));
  const registry = runCommand(root, 'npm', ['config', 'get', 'registry']).trim();
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  const proxies = [
    'http_proxy',
    'https_proxy',
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'NO_PROXY',
    'no_proxy',
  ];
  return [
    ...['--unshare-all', '--share-net', '--die-with-parent', '--clearenv'],
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--dir', '/root'],
    ...['--ro-bind', realpathSync(process.execPath), '/usr/bin/node'],
    ...['--ro-bind', realpathSync('/bin/sh'), '/bin/sh'],
    ...['--ro-bind', npm, '/usr/lib/node_modules/npm'],
    ...shownFiles().flat(),
    ...(certificates ? ['--ro-bind', realpathSync(certificates), certificates] : []),
    ...['--bind', work, '/work', '--setenv', 'HOME', '/root', '--setenv', 'PATH', '/usr/bin:/bin'],
    ...['--setenv', 'npm_config_registry', registry, '--setenv', 'npm_config_cache', '/tmp/npm'],
    ...(certificates ? ['--setenv', 'NODE_EXTRA_CA_CERTS', certificates] : []),
    ...proxies.flatMap((name) => (process.env[name] ? ['--setenv', name, process.env[name]] : [])),
  ];
}

function findOnPath(name) {
  const folders = (process.env.PATH ?? '').split(':');
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`There is no ${name} on the PATH. Install it.`);
  return found;
}

/** Bytes that a folder takes of the disk, in whole blocks, as `du` counts. */
function diskBytes(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .map((entry) => statSync(join(entry.parentPath ?? entry.path, entry.name)).blocks * 512)
    .reduce((sum, bytes) => sum + bytes, 0);
}

const work = mkdtempSync(join(tmpdir(), 'saccade-clean-'));
const problems = [];
try {
  findOnPath('bwrap');
  expectPrebuilt(root, platformOf());
  const specs = await packSpecs(root);
  mkdirSync(join(work, 'tarballs'));
  const inside = Object.entries(specs).map(([name, spec]) => {
    const file = spec.split('/').at(-1);
    copyFileSync(spec.slice('file:'.length), join(work, 'tarballs', file));
    return [name, `file:/work/tarballs/${file}`];
  });
  const moved = Object.fromEntries(inside);
  const within = (folder, ...words) =>
    runCommand(work, 'bwrap', [...bubblewrap(work), '--chdir', `/work/${folder}`, ...words]);
  const npm = ['/usr/bin/node', '/usr/lib/node_modules/npm/bin/npm-cli.js'];
  const install = (folder, packages) => {
    startProject(join(work, folder), packages, moved);
    const start = performance.now();
    within(folder, ...npm, 'install', '--no-audit', '--no-fund');
    return (performance.now() - start) / 1000;
  };
  const modules = (folder, name) => join(work, folder, 'node_modules', name);
  const report = (what, seconds, folder, name) => {
    const bytes = installedBytes(modules(folder, name));
    const disk = diskBytes(join(work, folder, 'node_modules'));
    const size = `${(bytes / 1e6).toFixed(3)} MB of files, ${(disk / 1e6).toFixed(3)} MB of the disk`;
    console.log(`${what}: npm install ${seconds.toFixed(1)} s, ${size}`);
    return Math.max(bytes, disk);
  };

  mkdirSync(join(work, 'kernels'));
  const look = ABSENT.map((name) => `command -v ${name}`).join('; ');
  const found = within('kernels', '/bin/sh', '-c', `${look}; true`).trim();
  if (found !== '') problems.push(`The root has ${found}.`);
  console.log(`root: Node ${process.version}, no ${ABSENT.join(', ')}`);

  const kernels = install('kernels', ['@saccade/attention', '@saccade/backend-native']);
  report('attention and kernels', kernels, 'kernels', '@saccade/backend-native');
  if (kernels > MOST_SECONDS) problems.push(`Installing took more than ${MOST_SECONDS} s.`);
  // Compiled where there is a compiler; types are gone, all else stands as it is written.
  const program = join(root, 'examples', 'packages', 'dist', 'attention.js');
  if (!existsSync(program)) throw new Error(`There is no ${program}. Run npx tsc -b.`);
  copyFileSync(program, join(work, 'kernels', 'attention.js'));
  console.log(within('kernels', '/usr/bin/node', 'attention.js').trim());

  const small = install('algorithms', ['@saccade/algorithms']);
  const size = report('algorithms alone', small, 'algorithms', '@saccade/algorithms');
  if (size > MOST_BYTES) problems.push(`@saccade/algorithms installs ${size} bytes.`);
  copyFileSync(join(dirname(program), 'losses.js'), join(work, 'algorithms', 'losses.js'));
  console.log(within('algorithms', '/usr/bin/node', 'losses.js').trim());
  const lock = JSON.parse(readFileSync(join(work, 'algorithms', 'package-lock.json'), 'utf8'));
  const names = Object.keys(lock.packages).filter((name) => name !== '');
  console.log(
    `it consists of ${names.map((name) => name.replace('node_modules/', '')).join(', ')}`,
  );
} catch (error) {
  problems.push(error instanceof Error ? error.message : String(error));
} finally {
  if (process.argv.includes('--keep')) console.error(`See ${work}`);
  else rmSync(work, { recursive: true });
}
for (const problem of problems) console.error(problem);
console.log(`clean-root: ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
