/** Recipes from files: TypeScript or JavaScript, loaded as they are. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError, messageOf } from '@saccade/core';
import type { Recipe } from './recipe.ts';

/** A recipe's file as it was when it was loaded. */
export interface RecipeSource {
  /** Absolute path. */
  readonly file: string;
  /** SHA-256 of the file and of every file that it imports by a relative path. */
  readonly digest: string;
}

export interface LoadedRecipe {
  readonly recipe: Recipe;
  readonly source: RecipeSource;
}

/** Whether a command line means a file instead of a recipe's name. */
export function isRecipeFile(name: string): boolean {
  return /\.[cm]?[jt]s$/.test(name);
}

/** How a source is stored in a run's configuration. */
export function writeSource({ file, digest }: RecipeSource): string {
  return `${file}#sha256=${digest}`;
}

export function readSource(text: string): RecipeSource {
  const [file = text, digest = ''] = text.split('#sha256=');
  return { file, digest };
}

/**
 * Loads the recipe that a file exports: as `recipe`, as its default, or as its only recipe.
 *
 * @throws ConfigError naming the file, if it is missing, fails to load, or exports no recipe
 */
export async function loadRecipe(path: string): Promise<LoadedRecipe> {
  const file = resolve(path);
  if (!existsSync(file)) {
    throw new ConfigError('recipe', `There is no file ${file}. Give a recipe's name or its file.`);
  }
  const source = { file, digest: digestOf(file) };
  const exported = await importModule(file);
  const named = exported.recipe ?? exported.default;
  const all = Object.values(exported).filter(isRecipe);
  const [only, another] = new Set(all);
  const recipe = isRecipe(named) ? named : another === undefined ? only : undefined;
  if (recipe !== undefined) return { recipe, source };
  throw new ConfigError(
    'recipe',
    `${file} exports ${all.length === 0 ? 'no recipe' : 'several recipes'}. Export one: ` +
      'export const recipe = defineRecipe({ name, description, config }).',
  );
}

/**
 * The exports of a TypeScript or JavaScript file.
 *
 * @throws ConfigError naming the file, if it is missing or fails to load
 */
export async function importModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  const file = resolve(path);
  if (!existsSync(file)) {
    throw new ConfigError('recipe', `There is no file ${file}. Check the path.`);
  }
  try {
    // Its own packages come from where the file is; ours are the modules that run already.
    const { createJiti } = await import('jiti');
    const jiti = createJiti(file, { interopDefault: false, tryNative: !/\.[cm]?ts$/.test(file) });
    return await jiti.import(file);
  } catch (error) {
    const message = `${file} cannot be loaded: ${inOneLine(messageOf(error))}`;
    throw new ConfigError('recipe', message);
  }
}

/** Loaders add lines of modules and positions to their messages: those of modules are left out. */
function inOneLine(message: string): string {
  const [before = ''] = message.split('\nRequire stack:');
  const line = before
    .split(/\s*\n\s*/)
    .join(' ')
    .trim();
  return line.length > 500 ? `${line.slice(0, 497)}...` : line;
}

function isRecipe(value: unknown): value is Recipe {
  const { name, config } = (value ?? {}) as { readonly name?: unknown; readonly config?: unknown };
  return typeof name === 'string' && typeof config === 'object' && config !== null;
}

const RELATIVE_IMPORT = /(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"\n]+)['"]/g;

/** A digest of a file and of what it imports by relative paths, in the order of their paths. */
function digestOf(file: string): string {
  const texts = new Map<string, string>();
  const open = [file];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (texts.has(path)) continue;
    const content = readFileSync(path, 'utf8');
    texts.set(path, content);
    for (const [, specifier = ''] of content.matchAll(RELATIVE_IMPORT)) {
      const found = findModule(resolve(dirname(path), specifier));
      if (found !== undefined) open.push(found);
    }
  }
  const hash = createHash('sha256');
  for (const path of [...texts.keys()].sort()) hash.update(`${texts.get(path)}\0`);
  return hash.digest('hex');
}

/** The file that a relative import means; it may leave out the ending, or say .js for .ts. */
function findModule(path: string): string | undefined {
  const stem = path.replace(/\.js$/, '');
  const candidates = [path, `${stem}.ts`, `${stem}.js`, `${path}/index.ts`, `${path}/index.js`];
  return candidates.find((candidate) => existsSync(candidate) && statSync(candidate).isFile());
}
