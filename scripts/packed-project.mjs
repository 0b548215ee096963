/** Projects outside the clone that take Saccade's packages from tarballs, as npm would send them. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packTarballs, stagePackages } from './pack.mjs';

export const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Every package as npm gets it: `file:` and its tarball, by name. */
export async function packSpecs(root) {
  const staged = await stagePackages(root);
  return Object.fromEntries(
    [...packTarballs(root, staged)].map(([name, tarball]) => [name, `file:${tarball}`]),
  );
}

/** Takes Saccade's packages from the tarballs, direct dependencies and those of dependencies. */
export function useTarballs(folder, specs) {
  const path = join(folder, 'package.json');
  const manifest = readJson(path);
  const own = Object.keys(manifest.dependencies).map((name) => [
    name,
    specs[name] ?? manifest.dependencies[name],
  ]);
  const changed = { ...manifest, dependencies: Object.fromEntries(own), overrides: specs };
  writeFileSync(path, JSON.stringify(changed, null, 2));
}

/** A new folder whose package.json depends on packages: names of ours, `name@range` of others. */
export function startProject(folder, packages, specs) {
  mkdirSync(folder, { recursive: true });
  const dependencies = packages.map((wanted) => {
    if (specs[wanted] !== undefined) return [wanted, specs[wanted]];
    const at = wanted.lastIndexOf('@');
    return [wanted.slice(0, at), wanted.slice(at + 1)];
  });
  const manifest = {
    private: true,
    type: 'module',
    dependencies: Object.fromEntries(dependencies),
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  useTarballs(folder, specs);
}

/** Runs a command and gives what it said. @throws Error where its exit status is another */
export function runCommand(folder, command, args, { status: expected = 0, env } = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: folder,
    env: env ?? process.env,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (error) throw error;
  const output = `${stdout}${stderr}`;
  if (status !== expected) throw new Error(`exit status ${status}, not ${expected}:\n${output}`);
  return output;
}

/** The prebuilt addon of this machine's platform has to be there. @throws Error with the remedy */
export function expectPrebuilt(root, platform) {
  if (existsSync(join(root, 'native', 'prebuilt', platform ?? 'none', 'saccade.node'))) return;
  throw new Error(
    `There is no native/prebuilt/${platform}/saccade.node. Build it: node native/prebuild.mjs.`,
  );
}
