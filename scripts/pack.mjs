/**
 * Writes every published package as npm gets it, one folder each, in build/packages.
 *
 *   node scripts/pack.mjs              after npx tsc -b
 *   node scripts/pack.mjs --tarballs   and packs the folders into build/tarballs
 *   node scripts/pack.mjs --release    refuses what a release must not lack
 *
 * The folders hold plain manifests: versions instead of `workspace:^` and `catalog:`, no conditions
 * for the clone's sources, no development dependencies. Any client packs and publishes them. Of
 * `dist`, they have what the present sources compile to, and no source maps, whose sources they lack.
 * In the place of zod stands the part of it that settings need (pack-bundle.mjs).
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listPublished } from './manifests.mjs';
import { listPlatforms, stagePlatform } from './native-platforms.mjs';
import { bundleDist, stageZod, withOwnZod, ZOD_PACKAGE } from './pack-bundle.mjs';

/** Something that packing needs is missing; the message says what to do. */
export class PackError extends Error {}

const SOURCE_CONDITION = '@saccade/source';
const NEVER_PACKED = /\/(__pycache__|node_modules)(\/|$)|\.pyc$|\.tsbuildinfo$|\.map$/;
/** What people install for itself, in hundreds of modules that no one imports alone. */
const BUNDLED = new Set(['@saccade/core', '@saccade/algorithms']);
const SOURCE_MAP = /\n?\/\/# sourceMappingURL=.*\n?$/;

/** The versions of the catalog in pnpm-workspace.yaml, by package. */
export function readCatalog(root) {
  const text = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8');
  const [, block = ''] = /^catalog:\n((?: {2}.+\n?)+)/m.exec(text) ?? [];
  const lines = [...block.matchAll(/^ {2}"?([^":]+)"?: "?([^"\n]+)"?$/gm)];
  return new Map(lines.map(([, name, version]) => [name, version]));
}

/** `workspace:^` and `catalog:` as versions that npm understands. */
function plainVersions(dependencies, versions, catalog) {
  const entries = Object.entries(dependencies ?? {}).map(([name, wanted]) => {
    const version = wanted === 'catalog:' ? catalog.get(name) : versions.get(name);
    if (name === 'zod') return [ZOD_PACKAGE, `^${versions.get('@saccade/core')}`];
    if (wanted === 'catalog:') return [name, version];
    if (wanted.startsWith('workspace:')) return [name, `${wanted.slice(10)}${version}`];
    return [name, wanted];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** An `exports` or `imports` map without the condition that names sources of the clone. */
function withoutSources(map) {
  if (typeof map !== 'object' || map === null) return map;
  const kept = Object.entries(map).filter(([condition]) => condition !== SOURCE_CONDITION);
  return Object.fromEntries(kept.map(([name, target]) => [name, withoutSources(target)]));
}

/** The manifest of a package as npm gets it. */
export function plainManifest(manifest, versions, catalog) {
  const { devDependencies: _, ...published } = manifest;
  for (const field of ['dependencies', 'peerDependencies', 'optionalDependencies']) {
    const plain = plainVersions(manifest[field], versions, catalog);
    if (plain === undefined) delete published[field];
    else published[field] = plain;
  }
  for (const field of ['exports', 'imports']) {
    if (manifest[field] !== undefined) published[field] = withoutSources(manifest[field]);
  }
  return published;
}

/** The source that a file of dist was compiled from; undefined for other files. */
function sourceOf(path, folder) {
  const inside = relative(join(folder, 'dist'), path).replace(/(\.d)?\.[jt]s$/, '.ts');
  const { compilerOptions } = JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8'));
  return join(folder, compilerOptions.rootDir, inside);
}

/** Arrays without the kind of their buffer, which TypeScript knows from 5.7 on and infers into declarations. */
const BUFFER_KIND =
  /\b((?:Big)?(?:Int|Uint|Float)\d+(?:Clamped)?Array|DataView)<ArrayBuffer(?:Like)?>/g;

/** Copies what was compiled, without its maps; not that of sources which are gone, or of fixtures. */
function copyCompiled(folder, target) {
  const dist = join(folder, 'dist');
  let count = 0;
  for (const name of existsSync(dist) ? readdirSync(dist, { recursive: true }) : []) {
    const path = join(dist, name);
    if (!/\.(d\.ts|js)$/.test(name) || /\.fixture\./.test(name)) continue;
    if (!existsSync(sourceOf(path, folder))) continue;
    mkdirSync(dirname(join(target, 'dist', name)), { recursive: true });
    const code = withOwnZod(readFileSync(path, 'utf8').replace(SOURCE_MAP, '\n'));
    const isTyped = name.endsWith('.d.ts');
    writeFileSync(join(target, 'dist', name), isTyped ? code.replaceAll(BUFFER_KIND, '$1') : code);
    count++;
  }
  if (count === 0) throw new PackError(`${dist} is empty. Run npx tsc -b, then this again.`);
}

/** Kernels lie outside the addon's folder; its package has them inside, so that it can be built. */
function copyKernels(root, target) {
  for (const name of ['include', 'cpu', 'cuda']) {
    cpSync(join(root, 'kernels', name), join(target, 'kernels', name), { recursive: true });
  }
}

async function stage(root, { folder, manifest }, target, context) {
  const from = join(root, folder);
  mkdirSync(target, { recursive: true });
  const published = plainManifest(manifest, context.versions, context.catalog);
  if (manifest.name === '@saccade/native') {
    copyKernels(root, target);
    if (context.platforms.length > 0) {
      const names = context.platforms.map(({ name }) => [name, manifest.version]);
      published.optionalDependencies = Object.fromEntries(names);
    }
  }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  copyFileSync(join(from, 'README.md'), join(target, 'README.md'));
  copyFileSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
  for (const name of manifest.files) {
    if (name === 'dist') copyCompiled(from, target);
    else if (!name.startsWith('!') && existsSync(join(from, name))) {
      const filter = (path) => !NEVER_PACKED.test(path);
      cpSync(join(from, name), join(target, name), { recursive: true, filter });
    }
  }
  if (BUNDLED.has(manifest.name)) await bundleDist(target, published);
}

/** What a release must not lack, one sentence each. */
function findObstacles(root, platforms) {
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const isThere = new Set(platforms.map(({ name }) => name));
  const obstacles = listPlatforms(root)
    .filter(({ name, isReleased }) => isReleased && !isThere.has(name))
    .map(({ name, file }) => `${name} has no binary: put it at ${file}.`);
  if (repository === undefined) {
    obstacles.push(
      'package.json has no repository, which provenance needs: ' +
        'node scripts/manifests.mjs --repository <address>.',
    );
  }
  return obstacles;
}

/**
 * Writes the folders of all packages.
 *
 * @returns {Promise<{ name: string, version: string, folder: string }[]>}  in the order of publication
 * @throws PackError
 */
export async function stagePackages(root, { isRelease = false } = {}) {
  const packages = listPublished(root);
  const versions = new Map(packages.map(({ manifest }) => [manifest.name, manifest.version]));
  const platforms = listPlatforms(root).filter(({ isBuilt }) => isBuilt);
  const obstacles = isRelease ? findObstacles(root, platforms) : [];
  if (obstacles.length > 0) throw new PackError(obstacles.join('\n'));
  const out = join(root, 'build', 'packages');
  rmSync(out, { recursive: true, force: true });
  const layers = JSON.parse(readFileSync(join(root, 'scripts', 'layers.json'), 'utf8'));
  const context = {
    versions,
    catalog: readCatalog(root),
    platforms: platforms.filter(({ isOptionalDependency }) => isOptionalDependency),
  };
  const native = packages.find(({ manifest }) => manifest.name === '@saccade/native').manifest;
  const staged = platforms.map((platform) => {
    const folder = join(out, basename(platform.name));
    stagePlatform(root, platform, native, folder);
    return { name: platform.name, version: native.version, folder };
  });
  const zod = join(out, basename(ZOD_PACKAGE));
  await stageZod(root, native, zod);
  staged.push({ name: ZOD_PACKAGE, version: native.version, folder: zod });
  for (const own of packages.sort((a, b) => layers.indexOf(a.name) - layers.indexOf(b.name))) {
    const folder = join(out, own.name);
    await stage(root, own, folder, context);
    staged.push({ name: own.manifest.name, version: own.manifest.version, folder });
  }
  return staged;
}

/**
 * Packs staged folders with npm.
 *
 * @returns {Map<string, string>}  the tarball of each package
 * @throws PackError
 */
export function packTarballs(root, staged) {
  const tarballs = join(root, 'build', 'tarballs');
  rmSync(tarballs, { recursive: true, force: true });
  mkdirSync(tarballs, { recursive: true });
  const folders = staged.map(({ folder }) => folder);
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', tarballs, ...folders];
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new PackError(`npm pack failed: ${stderr}`);
  return new Map(
    JSON.parse(stdout).map(({ name, filename }) => [name, join(tarballs, basename(filename))]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  try {
    const staged = await stagePackages(root, { isRelease: process.argv.includes('--release') });
    if (process.argv.includes('--tarballs')) packTarballs(root, staged);
    console.log(`pack: ${staged.length} packages in build/packages`);
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
