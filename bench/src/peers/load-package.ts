/** Loads a peer from npm; installs them all the first time, into `bench/peers` and nowhere else. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { MissingError } from '@saccade/core';

const folder = fileURLToPath(new URL('../../peers/', import.meta.url));

/** @throws MissingError if the packages cannot be installed */
export function installPackages(): void {
  if (existsSync(`${folder}node_modules`)) return;
  console.error('Installing the peers from npm (500 MB, once) …');
  const args = ['-y', 'pnpm@12', 'install', '--frozen-lockfile'];
  const { status, stderr, stdout } = spawnSync('npx', args, { cwd: folder, encoding: 'utf8' });
  if (status === 0) return;
  const said = `${stdout}${stderr}`.trimEnd().split('\n').slice(-3).join(' ');
  throw new MissingError(`the packages in ${folder} could not be installed: ${said}`);
}

/** Where a package lies, once all are installed. */
export const packageFolder = (name: string): string => `${folder}node_modules/${name}`;

/** The module of a package and its version. @throws what loading throws */
export function loadPackage<Module>(name: string): { module: Module; version: string } {
  installPackages();
  const require = createRequire(`${folder}package.json`);
  const { dependencies } = require('./package.json') as { dependencies: Record<string, string> };
  return { module: require(name) as Module, version: dependencies[name] ?? 'unknown' };
}
