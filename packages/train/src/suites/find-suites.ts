/** Finds suites by what a person writes: names, groups of names, files, and turned suites. */
import { ConfigError } from '@saccade/core';
import { type Suite, suiteGroups, suites, underOrientations } from '@saccade/eval';
import { importModule, isRecipeFile } from '../load-recipe.ts';

const TURNED = 'orientation:';

/**
 * The suites of a list: names and groups of the catalog, files that export suites, and
 * `orientation:<suite>` for one under six orientations.
 *
 * @param given e.g. `charts,documents`, `vista-ood`, `./my-suites.ts`, `orientation:charts`
 * @throws ConfigError for a name that is not known, or a file without a suite
 */
export async function findSuites(given: readonly string[]): Promise<readonly Suite[]> {
  const words = given.flatMap((text) => text.split(',')).map((word) => word.trim());
  const found: Suite[] = [];
  for (const word of words.filter((one) => one !== '')) found.push(...(await suitesOf(word)));
  if (found.length === 0) {
    throw new ConfigError('suite', `suite: expected names, got none. Known: ${known()}.`);
  }
  const twice = found.find((suite, index) => found.findIndex((s) => s.name === suite.name) < index);
  if (twice === undefined) return found;
  throw new ConfigError('suite', `suite: ${twice.name} stands twice. Name each once.`);
}

async function suitesOf(word: string): Promise<readonly Suite[]> {
  if (isRecipeFile(word)) return await suitesInFile(word);
  if (word.startsWith(TURNED)) {
    return (await suitesOf(word.slice(TURNED.length))).map(underOrientations);
  }
  const group = suiteGroups[word];
  if (group !== undefined) return group.map((name) => suites.get(name));
  if (!suites.has(word) && Object.keys(suiteGroups).length > 0) {
    // The registry names the nearest suite; groups are named beside.
    try {
      suites.get(word);
    } catch (error) {
      const { message } = error as Error;
      const groups = Object.keys(suiteGroups).join(', ');
      throw new ConfigError('suite', `suite: ${message} Groups: ${groups}.`);
    }
  }
  return [suites.get(word)];
}

async function suitesInFile(file: string): Promise<readonly Suite[]> {
  const exported = Object.values(await importModule(file)).filter(isSuite);
  if (exported.length > 0) return [...new Set(exported)];
  throw new ConfigError(
    'suite',
    `${file} exports no suite. Export one: export const mySuite = defineSuite({ name, … }).`,
  );
}

function isSuite(value: unknown): value is Suite {
  const { name, taskSet, verifier, slices } = (value ?? {}) as Partial<Suite>;
  return [name, taskSet, verifier, slices].every((one) => one !== undefined);
}

const known = (): string => [...suites.names, ...Object.keys(suiteGroups)].join(', ');
