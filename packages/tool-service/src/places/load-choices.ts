/** Finds tools in modules: packages, and files of one's own in TypeScript or JavaScript. */
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ConfigError, messageOf, nearestName } from '@saccade/core';
import { type ChosenTool, type ToolChoice, toolSettings } from '@saccade/tools';

/** A tool by its name, with settings where it takes some. */
export interface NamedTool {
  readonly name: string;
  readonly settings?: Readonly<Record<string, unknown>>;
}

/**
 * Every tool and tool unit that modules export, by name: as a value, or in a registry.
 *
 * @param modules addresses (`file:`) of modules; of two tools with one name the later module's counts
 * @throws ConfigError for a module that cannot be loaded
 */
export async function loadChoices(
  modules: readonly string[],
): Promise<ReadonlyMap<string, ToolChoice>> {
  const choices = new Map<string, ToolChoice>();
  for (const url of modules) {
    for (const value of Object.values(await importModule(url))) {
      for (const choice of choicesIn(value)) choices.set(choice.name, choice);
    }
  }
  return choices;
}

/**
 * The tools of those names with their settings checked.
 *
 * @throws ConfigError for a name that there is not, and for settings that do not fit
 */
export function chooseTools(
  choices: ReadonlyMap<string, ToolChoice>,
  named: readonly NamedTool[],
): readonly ChosenTool[] {
  return named.map(({ name, settings = {} }) => {
    const choice = choices.get(name);
    if (choice === undefined) throw unknownTool(name, [...choices.keys()].sort());
    const parsed = toolSettings(choice).safeParse(settings);
    if (parsed.success) return { choice, settings: parsed.data };
    const [issue] = parsed.error.issues;
    const path = ['tools', name, ...(issue?.path ?? [])].map(String).join('.');
    throw new ConfigError(path, `${path}: ${issue?.message}.`);
  });
}

function unknownTool(name: string, known: readonly string[]): ConfigError {
  const near = nearestName(name, known);
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  const list = known.join(', ') || 'none';
  return new ConfigError('tools', `There is no tool "${name}". Known: ${list}.${hint}`);
}

async function importModule(url: string): Promise<Readonly<Record<string, unknown>>> {
  const path = fileURLToPath(url);
  if (!existsSync(path)) {
    throw new ConfigError('modules', `There is no file ${path}. Check the modules of the tools.`);
  }
  try {
    if (!/\.[cm]?ts$/.test(path)) return await import(pathToFileURL(path).href);
    const { createJiti } = await import('jiti');
    return await createJiti(path, { interopDefault: false, tryNative: false }).import(path);
  } catch (error) {
    const [line] = messageOf(error).split('\n');
    throw new ConfigError('modules', `${path} cannot be loaded: ${line}`);
  }
}

/** A tool, a unit, or the entries of a registry of tools. */
function choicesIn(value: unknown): readonly ToolChoice[] {
  if (typeof value !== 'object' || value === null) return [];
  if (isChoice(value)) return [value];
  const { noun, entries } = value as { readonly noun?: unknown; readonly entries?: unknown };
  if (noun !== 'tool' || typeof entries !== 'function') return [];
  return (entries.call(value) as readonly (readonly [string, unknown])[])
    .map(([, entry]) => entry)
    .filter((entry) => isChoice(entry));
}

function isChoice(value: unknown): value is ToolChoice {
  if (typeof value !== 'object' || value === null) return false;
  const { name, call, open, settings } = value as Partial<Record<string, unknown>>;
  if (typeof name !== 'string') return false;
  const isTool = typeof call === 'function' && 'parameters' in value;
  return isTool || (typeof open === 'function' && settings !== undefined && 'describe' in value);
}
