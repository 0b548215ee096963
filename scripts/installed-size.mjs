/** How many bytes npm installs for a package: its own files and those of its dependencies. */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Bytes of a package's own files. */
function ownBytes(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += ownBytes(path);
    else if (entry.isFile()) bytes += statSync(path).size;
  }
  return bytes;
}

/** Where Node finds `name` from `folder`; undefined if it is not installed. */
function find(name, folder) {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, 'node_modules', name);
    if (existsSync(path)) return realpathSync(path);
    if (dirname(at) === at) return undefined;
  }
}

/** Folders of the packages that npm installs for the one in `folder`, itself included. */
function closureOf(folder, seen = new Set()) {
  if (seen.has(folder)) return seen;
  seen.add(folder);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = manifest;
  const peers = Object.keys(peerDependencies ?? {}).filter(
    (name) => peerDependenciesMeta?.[name]?.optional !== true,
  );
  for (const name of [
    ...Object.keys(dependencies ?? {}),
    ...Object.keys(optionalDependencies ?? {}),
    ...peers,
  ]) {
    const found = find(name, folder);
    if (found !== undefined) closureOf(found, seen);
  }
  return seen;
}

/** Bytes of the files of an installed package, with its dependencies unless `isAlone`. */
export function installedBytes(folder, { isAlone = false } = {}) {
  const folders = isAlone ? [folder] : [...closureOf(realpathSync(folder))];
  return folders.reduce((sum, one) => sum + ownBytes(one), 0);
}
