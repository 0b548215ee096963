/** `saccade init`: a small project that depends on Saccade's packages and trains an agent of its own. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '@saccade/core';
import { describeValue } from '@saccade/core/settings';
import { printJson } from './json.ts';
import { say } from './say.ts';

/** The template of the project, beside `src` and `dist`. */
const template = fileURLToPath(new URL('../template', import.meta.url));

/** npm leaves .gitignore out of packages, so the template has it under another name. */
const renamed: Readonly<Record<string, string>> = { gitignore: '.gitignore' };

/** The name in the template's files that the project's own name replaces. */
const TEMPLATE_NAME = 'my-agent';

/** Writes a project into a folder and says how to go on. */
export function initProject(directory: string, { json }: { readonly json?: boolean }): void {
  const target = resolve(directory);
  writeProject(target);
  if (json) {
    printJson({ directory: target, files: templateFiles().map(writtenName) });
    return;
  }
  const below = relative(process.cwd(), target) || '.';
  const shown = below.startsWith('..') ? target : below;
  say(
    `Wrote ${target}. Continue with:\n\n  cd ${shown}\n  npm install\n  npm test\n` +
      '  npx saccade train ./my-recipe.ts',
  );
}

/**
 * Writes the project into a folder, which is made where it does not exist.
 *
 * @throws ConfigError for a name that no package can have, or a folder that holds something
 */
function writeProject(directory: string): void {
  const name = checkedName(basename(directory));
  if (existsSync(directory) && !statSync(directory).isDirectory()) {
    throw new ConfigError('directory', `${directory} is a file. Choose a new folder.`);
  }
  if (existsSync(directory) && readdirSync(directory).length > 0) {
    throw new ConfigError(
      'directory',
      `${directory} is not empty, and init overwrites nothing. Choose a new folder.`,
    );
  }
  for (const file of templateFiles()) {
    const target = join(directory, writtenName(file));
    mkdirSync(dirname(target), { recursive: true });
    const source = join(template, file);
    if (file === 'package.json') writeFileSync(target, manifestOf(source, name));
    else if (name === TEMPLATE_NAME || !/\.(ts|md)$/.test(file)) copyFileSync(source, target);
    else writeFileSync(target, readFileSync(source, 'utf8').replaceAll(TEMPLATE_NAME, name));
  }
}

/** The path of a file of the template below the project. */
function writtenName(file: string): string {
  return join(dirname(file), renamed[basename(file)] ?? basename(file));
}

/** Files of the template by their paths below it; what a run or an editor leaves is not one. */
function templateFiles(folder = ''): readonly string[] {
  return readdirSync(join(template, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return ['node_modules', 'runs'].includes(entry.name) ? [] : templateFiles(path);
    }
    return [path];
  });
}

/** The template's package.json under another name, with Saccade at the version of this program. */
function manifestOf(source: string, name: string): string {
  const manifest = JSON.parse(readFileSync(source, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const own = JSON.parse(readFileSync(join(template, '../package.json'), 'utf8')) as {
    readonly version: string;
  };
  const dependencies = Object.entries(manifest.dependencies).map(([key, range]) => [
    key,
    key.startsWith('@saccade/') ? own.version : range,
  ]);
  const written = { ...manifest, name, dependencies: Object.fromEntries(dependencies) };
  return `${JSON.stringify(written, null, 2)}\n`;
}

/** Names of packages are stricter than those of folders. */
function checkedName(name: string): string {
  if (/^[a-z0-9][a-z0-9._-]*$/.test(name) && name.length <= 100 && name !== 'node_modules') {
    return name;
  }
  throw new ConfigError(
    'directory',
    'The name of a project is made of lowercase letters, digits, dots, dashes and underscores, ' +
      `begins with a letter or a digit and has at most 100 characters; got ${describeValue(name)}.`,
  );
}
