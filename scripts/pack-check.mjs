/**
 * Checks the packages as npm gets them: npm and pnpm pack the same files, publint and Are The Types
 * Wrong find nothing, nothing of the clone is left in a manifest, and no size exceeds its budget.
 *
 *   npm run pack-check               and prints the table of sizes
 *   npm run pack-check -- --write    writes the sizes as budgets, with a tenth to spare
 *
 * Budgets are in scripts/package-sizes.json. Installed sizes are of the packages that npm installs
 * in an empty project, with the addon of a release: before --write, build it by native/prebuild.mjs.
 * That of a clone has one instruction set, and a fraction of the size. Bundles are those of docs/browser.md.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { BROWSER_PACKAGES, bundleWhole } from './browser-bundle.mjs';
import { installedBytes } from './installed-size.mjs';
import { packTarballs, stagePackages } from './pack.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const budgetPath = join(root, 'scripts', 'package-sizes.json');
/** Resolutions that packages of ES modules alone do not have. */
const NOT_OURS = new Set(['node10', 'node16-cjs']);
/** By how much a written budget exceeds the size. */
const SPARE = 1.1;
const KINDS = ['tarball', 'unpacked', 'installed', 'bundle'];

function run(folder, command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.slice(0, 3).join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

const filesIn = (tarball) => run(root, 'tar', ['-tzf', tarball]).trim().split('\n').sort();

/** Packs the same folders with pnpm; says where its tarballs differ. */
function compareWithPnpm(staged, tarballs) {
  const folder = join(root, 'build', 'packages');
  const destination = join(root, 'build', 'tarballs-pnpm');
  rmSync(destination, { recursive: true, force: true });
  mkdirSync(destination, { recursive: true });
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), "packages:\n  - '*'\n");
  run(folder, 'npx', ['-y', 'pnpm@12', '-r', 'pack', '--pack-destination', destination]);
  rmSync(join(folder, 'pnpm-workspace.yaml'));
  return staged.flatMap(({ name }) => {
    const [npm, pnpm] = [tarballs.get(name), join(destination, basename(tarballs.get(name)))];
    const [ours, theirs] = [filesIn(npm), filesIn(pnpm)];
    const manifest = (tarball) =>
      run(root, 'tar', ['-xzOf', tarball, 'package/package.json']).replaceAll(/\s/g, '');
    const problems = [];
    if (ours.join() !== theirs.join()) problems.push(`${name}: npm and pnpm pack different files.`);
    for (const tarball of [npm, pnpm]) {
      const left = /"[^"]*":"(workspace|catalog):[^"]*"|@saccade\/source/.exec(manifest(tarball));
      if (left) problems.push(`${name}: ${basename(tarball)} still has ${left[0]}.`);
    }
    // The project that `saccade init` writes has tests of its own.
    const packed = ours.filter((file) => !file.startsWith('package/template/'));
    const strange = packed.filter((file) =>
      /tsbuildinfo|\.(test|fixture|map)\b|__pycache__/.test(file),
    );
    return [...problems, ...strange.map((file) => `${name}: ${file} should not be packed.`)];
  });
}

/** What publint says of a tarball, suggestions included. */
async function lint({ name }, bytes) {
  const pack = { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) };
  const { messages, pkg } = await publint({ pack, strict: true });
  return messages.map((message) => `${name}: publint: ${formatMessage(message, pkg)}`);
}

/** What Are The Types Wrong says of a tarball. */
async function checkTypes({ name }, bytes) {
  const { types, problems = [] } = await checkPackage(createPackageFromTarballData(bytes));
  // A package of one binary has no types.
  if (types === false) return [];
  return problems
    .filter(({ resolutionKind }) => !NOT_OURS.has(resolutionKind))
    .map(({ kind, entrypoint, resolutionKind }) => {
      return `${name}: types: ${kind} of ${entrypoint ?? 'a file'} in ${resolutionKind ?? 'all'}.`;
    });
}

/** Installs all tarballs in an empty project; the folder of its packages. */
function installAll(tarballs) {
  const project = join(root, 'build', 'installed');
  rmSync(project, { recursive: true, force: true });
  mkdirSync(project, { recursive: true });
  const specs = Object.fromEntries([...tarballs].map(([name, path]) => [name, `file:${path}`]));
  const optional = ([name]) => /^@saccade\/native-/.test(name);
  const wanted = Object.entries(specs).filter((entry) => !optional(entry));
  const dependencies = Object.fromEntries(wanted);
  const manifest = { private: true, dependencies, overrides: specs };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  run(project, 'npm', ['install', '--no-audit', '--no-fund', '--prefer-offline']);
  return join(project, 'node_modules');
}

const kilobytes = (bytes) => Math.ceil(bytes / 1000);

/** Sizes of a package in kB of 1000 bytes. */
async function measure({ name }, tarball, modules) {
  const short = name.replace('@saccade/', '');
  const folder = join(modules, name);
  const bundle = BROWSER_PACKAGES.includes(short) && (await bundleWhole(short)).gzipped;
  return {
    tarball: kilobytes(readFileSync(tarball).length),
    // Those of other platforms are not installed.
    ...(existsSync(folder) && {
      unpacked: kilobytes(installedBytes(folder, { isAlone: true })),
      installed: kilobytes(installedBytes(folder)),
    }),
    ...(bundle && { bundle: kilobytes(bundle) }),
  };
}

function compareWithBudget(name, sizes, budget) {
  if (budget === undefined) return [`${name} has no budget. Run npm run pack-check -- --write.`];
  return KINDS.filter((kind) => sizes[kind] > (budget[kind] ?? Number.POSITIVE_INFINITY)).map(
    (kind) =>
      `${name}: ${kind} is ${sizes[kind]} kB, the budget ${budget[kind]} kB. Make it smaller, or ` +
      'raise the budget in scripts/package-sizes.json.',
  );
}

function printTable(rows) {
  const width = Math.max(...rows.map(([name]) => name.length));
  const line = (name, cells) =>
    `${name.padEnd(width)}${cells.map((cell) => String(cell ?? '–').padStart(11)).join('')}`;
  console.log(line('kB', KINDS));
  for (const [name, sizes] of rows)
    console.log(
      line(
        name,
        KINDS.map((kind) => sizes[kind]),
      ),
    );
}

const staged = await stagePackages(root);
const tarballs = packTarballs(root, staged);
const problems = compareWithPnpm(staged, tarballs);
const modules = installAll(tarballs);
const budgets = existsSync(budgetPath) ? JSON.parse(readFileSync(budgetPath, 'utf8')) : {};
const isWriting = process.argv.includes('--write');
const rows = [];
for (const own of staged) {
  const bytes = readFileSync(tarballs.get(own.name));
  problems.push(...(await lint(own, bytes)), ...(await checkTypes(own, new Uint8Array(bytes))));
  const sizes = await measure(own, tarballs.get(own.name), modules);
  rows.push([own.name, sizes]);
  if (!isWriting) problems.push(...compareWithBudget(own.name, sizes, budgets[own.name]));
}
printTable(rows);
if (isWriting) {
  for (const [name, sizes] of rows) {
    const spare = Object.entries(sizes).map(([kind, size]) => [kind, Math.ceil(size * SPARE)]);
    budgets[name] = Object.fromEntries(spare);
  }
  const sorted = Object.fromEntries(Object.entries(budgets).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(budgetPath, `${JSON.stringify(sorted, null, 2)}\n`);
}
for (const problem of problems) console.error(problem);
const count = readdirSync(join(root, 'build', 'packages')).length;
console.log(`pack-check: ${count} packages, ${problems.length} findings`);
process.exitCode = problems.length > 0 ? 1 : 0;
