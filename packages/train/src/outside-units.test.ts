/** Units that no catalog has: in every slot, through settings, into a file and back. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, DataError } from '@saccade/core';
import { text } from '@saccade/core/settings';
import { writeConfig } from '@saccade/run-store';
import { defineToolUnit, imageFlipTool } from '@saccade/tools';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loadRecipe, writeSource } from './load-recipe.ts';
import { checkRun } from './parts.ts';
import { protocolOf } from './protocol-of.ts';
import { inputOf } from './recipe.ts';
import { inputOfRun, type RunInput, resolveRun } from './run-config.ts';
import { parseSetting } from './setting.ts';
import { applySettings } from './settings.ts';
import { isListSlot, type ListSlot } from './slots/list-slot.ts';
import { type Slot, use } from './slots/slot.ts';
import { type SlotKey, slots } from './slots/slots.ts';
import { readRunConfig } from './stored-run-config.ts';

let directory: string;
beforeEach(() => {
  // Below this package, so that recipe files find Saccade's packages.
  mkdirSync(join(import.meta.dirname, '../.cache'), { recursive: true });
  directory = mkdtempSync(join(import.meta.dirname, '../.cache/outside-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const everySlot = Object.entries(slots) as [SlotKey, Slot<object> | ListSlot<object>][];

const set = (input: RunInput, ...settings: readonly string[]): RunInput =>
  applySettings(input, settings.map(parseSetting));

describe.each(everySlot)('a unit from outside in the slot %s', (key, slot) => {
  const [[known, catalogUnit] = ['', {}]] = slot.registry.entries();
  // The same as one of the catalog under a name of its own.
  const unit = { ...catalogUnit, schema: undefined, ...schemaOf(catalogUnit), name: 'outsider' };

  it('fills it, survives settings, and is found again in its recipe', async () => {
    const company = key === 'tools' ? { protocol: 'vista' as const } : {};
    const input = { ...company, [key]: isListSlot(slot) ? [unit] : unit } as RunInput;
    const run = resolveRun(input);
    expect(run.outside).toEqual([key]);
    expect([run.units[key]].flat()).toEqual([unit]);
    expect([run.config[key]].flat()[0]).toMatchObject({ name: 'outsider' });
    expect(resolveRun(inputOfRun(run)).config).toEqual(run.config);
    // Settings elsewhere leave it alone; choosing another unit takes its place.
    expect(resolveRun(set(input, 'seed=7')).outside).toEqual([key]);
    expect(resolveRun(set(input, `${key}=${known}`)).outside).toEqual([]);
  });

  it('is refused where it is no unit', () => {
    for (const wrong of [7, true, {}, { name: 3 }, [7], [[unit]]]) {
      const isEmptySelection = slot.preset !== undefined || slot.implied !== undefined;
      if (JSON.stringify(wrong) === '{}' && isEmptySelection) continue;
      expect(() => resolveRun({ [key]: wrong } as RunInput), JSON.stringify(wrong)).toThrow(
        ConfigError,
      );
    }
  });
});

/** Algorithms compute their schema when it is asked for. */
function schemaOf(unit: object): object {
  return 'schema' in unit ? { schema: unit.schema } : {};
}

it('empties a slot with null, where a run can do without', () => {
  const input = { judge: 'openai', engine: 'http', trackers: ['csv'] } as const;
  const full = resolveRun(input);
  expect(full.units).toMatchObject({ judge: {}, engine: {}, trackers: [{}] });
  const { units, config } = resolveRun(set(input, 'judge=null', 'engine=null', 'trackers=null'));
  for (const key of ['judge', 'engine', 'trackers']) {
    expect(units).not.toHaveProperty(key);
    expect(config).not.toHaveProperty(key);
  }
});

describe('lists', () => {
  it('are written with commas, keep what stays, and take settings by the name', () => {
    const input = set({}, 'trackers=csv,jsonl', 'trackers.csv.path=a.csv');
    expect(resolveRun(input).config.trackers).toEqual([
      { name: 'csv', path: 'a.csv' },
      { name: 'jsonl', path: 'metrics-plain.jsonl' },
    ]);
    const other = set(input, 'trackers=tensorboard,csv');
    expect(resolveRun(other).config.trackers).toEqual([
      { name: 'tensorboard', path: 'tensorboard' },
      { name: 'csv', path: 'a.csv' },
    ]);
  });

  it.each([
    ['trackers=csv,csv', /csv stands twice/],
    ['trackers=csv,', /expected names with commas/],
    ['trackers=cvs', /no tracker "cvs".*Did you mean "csv"/],
    ['trackers.csv.path=x', /There is no setting/],
    ['tools=image_flip_tool', /pyvision-image takes no tools.*vista/],
    ['tools=[]', /at least one tool/],
  ])('refuse %s', (setting, message) => {
    expect(() => resolveRun(set({}, setting))).toThrow(ConfigError);
    expect(() => resolveRun(set({}, setting))).toThrow(message);
  });

  it('gives the protocol the tools that it is told to take', () => {
    const own = { ...imageFlipTool, name: 'my_flip' };
    // The cold start would look with a tool that is not among these.
    const cold = { coldStart: null, sft: { updates: 0 } };
    const run = resolveRun({ protocol: 'vista', tools: [own, 'image_rotate_tool'], ...cold });
    checkRun(run);
    expect(protocolOf(run).tools?.map(({ name }) => name)).toEqual([
      'my_flip',
      'image_rotate_tool',
    ]);
    expect(run.outside).toEqual(['tools']);
    expect(protocolOf(resolveRun({ protocol: 'vista' })).tools?.length).toBeGreaterThan(2);
  });

  it('sets a unit that opens tools', () => {
    const settings = z.strictObject({
      prefix: text({ default: 'a', unit: 'text', about: 'What the name begins with.' }),
    });
    const unit = defineToolUnit({
      name: 'served',
      description: 'A tool from elsewhere.',
      settings,
      describe: ({ prefix }) => [{ ...imageFlipTool, name: `${prefix}_flip` }],
      open: async () => ({ tools: [], dispose: async () => {} }),
    });
    const input: RunInput = {
      protocol: 'vista',
      tools: [unit],
      coldStart: null,
      sft: { updates: 0 },
    };
    const run = resolveRun(set(input, 'tools.served.prefix=my'));
    expect(protocolOf(run).tools?.map(({ name }) => name)).toEqual(['my_flip']);
    expect(() => resolveRun(set(input, 'tools.served.prefx=my'))).toThrow(/prefix/);
  });
});

it('answers a setting of 3,000 characters at once, in a short message', () => {
  const name = 'reward.'.repeat(430);
  const before = process.cpuUsage();
  for (const setting of [`${name}=1`, `taskSet=${name}`, `trackers=${name}`, name]) {
    try {
      resolveRun(set({}, setting));
      expect.fail('accepted');
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      expect((error as ConfigError).message.length).toBeLessThan(1200);
    }
  }
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});

/** Joined, as the check of layers reads the imports of this file too. */
const fromUnits = ['from', "'./units.ts'"].join(' ');

/** A recipe file with a task set and a tool from a file beside it. */
function writeRecipe(): string {
  writeFileSync(
    join(directory, 'units.ts'),
    `import { needle, taskSets } from '@saccade/gym';
import { imageFlipTool, type Tool } from '@saccade/tools';
export const mine = { ...taskSets.get('needle'), name: 'mine' };
export const flip: Tool = { ...imageFlipTool, name: 'my_flip' };
export const isSame = needle.name === 'needle';
`,
  );
  const path = join(directory, 'recipe.ts');
  writeFileSync(
    path,
    `import { ConfigError } from '@saccade/core';
import { flip, mine } ${fromUnits};
export const Known = ConfigError;
export const recipe = {
  name: 'outside',
  description: 'A recipe of a test.',
  config: { taskSet: { name: mine, cards: 3 }, protocol: 'vista', tools: [flip, 'image_zoom_in_tool'] },
};
`,
  );
  return path;
}

describe('recipe files', () => {
  it('come back from a run directory, with a warning where a file they import has changed', async () => {
    const { recipe, source } = await loadRecipe(writeRecipe());
    const run = resolveRun(inputOf(recipe));
    expect(run.outside).toEqual(['taskSet', 'tools']);
    const sources = Object.fromEntries(run.outside.map((key) => [key, writeSource(source)]));
    const at = join(directory, 'run');
    mkdirSync(at);
    writeConfig(at, run.config, { sources });
    const warnings: string[] = [];
    const read = () =>
      readRunConfig(at, (event) => {
        if (event.kind === 'warning') warnings.push(event.message);
      });
    const again = await read();
    expect(again.config).toEqual(run.config);
    expect(again.outside).toEqual(run.outside);
    expect(warnings).toEqual([]);
    writeFileSync(join(directory, 'units.ts'), '\n// Changed.\n', { flag: 'a' });
    await read();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/or a file it imports, has changed/);
    rmSync(source.file);
    await expect(read()).rejects.toThrow(DataError);
    await expect(read()).rejects.toThrow(/cannot be loaded now.*Put the file back/);
  });

  it('share the modules of the program', async () => {
    const path = writeRecipe();
    writeFileSync(
      path,
      `import { ConfigError } from '@saccade/core';
throw new ConfigError('mine', 'mine: expected less.');
`,
    );
    const error = await loadRecipe(path).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as Error).message).toContain('expected less');
  });

  it.each([
    ['export const x = (;', /cannot be loaded/],
    ["import './gone.ts';", /cannot be loaded.*gone/],
    ['export const x = 1;', /exports no recipe/],
    [
      "export const a = { name: 'a', config: {} }; export const b = { name: 'b', config: {} };",
      /exports several recipes/,
    ],
  ])('say in one line what is wrong with %s', async (text, message) => {
    const path = join(directory, 'broken.ts');
    writeFileSync(path, text);
    const error = (await loadRecipe(path).catch((caught: unknown) => caught)) as Error;
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('\n');
    expect(error.message.length).toBeLessThan(600);
  });

  it('take settings for a unit, written with use', () => {
    const unit = slots.taskSet.registry.get('needle');
    const { config } = resolveRun({ taskSet: use(unit, { cards: 3 }) });
    expect(config.taskSet).toMatchObject({ name: 'needle', cards: 3 });
  });
});
