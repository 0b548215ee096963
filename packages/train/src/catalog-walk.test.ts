/** Every unit of every slot, and every setting of each, can be reached with `--set`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import type { SettingField } from '@saccade/core/settings';
import { describe, expect, it } from 'vitest';
import { checkRun } from './parts.ts';
import { fieldsOf, type ResolvedRun, resolveRun } from './run-config.ts';
import { parseSetting } from './setting.ts';
import { applySettings } from './settings.ts';
import { isListSlot, type ListSlot } from './slots/list-slot.ts';
import type { Slot } from './slots/slot.ts';
import { type SlotKey, slots } from './slots/slots.ts';

/** No protocol has the words of every cold start, and no single tool those of one. */
const noColdStart = ['coldStart=null', 'sft.updates=0'];

/** The tools that VISTA's cold start demonstrates. */
const everyTool =
  'tools.served.names=image_zoom_in_tool,image_rotate_tool,image_flip_tool,read_code,' +
  'image_resize_tool,image_adjust_tool';

/** Other choices that some units need. */
const company: Readonly<Record<string, readonly string[]>> = {
  // Its server is not started: what tools it has, only opening finds.
  'tools=mcp': ['protocol=vista', ...noColdStart, 'tools=mcp', 'tools.mcp.command=node'],
  tools: ['protocol=vista', ...noColdStart],
  protocol: noColdStart,
  'coldStart=tool-needle': ['protocol=vista', 'tools=served', everyTool],
  'coldStart=card-video': ['taskSet=card-video', 'protocol=pyvision-video'],
  // Some presets have terms that a judge scores.
  reward: ['judge=openai'],
  'model=pretrained': ['model=pretrained', 'model.from=hf:owner/name'],
  judge: ['judge.baseUrl=http://127.0.0.1:1/v1'],
  'judge=boxes': [],
  // Their files are opened by a run alone.
  'taskSet=dataset': ['taskSet=dataset', 'taskSet.from=data/mine'],
  'taskSet=mixture': ['taskSet=mixture', 'taskSet.sources=data/mine'],
};

/** Other settings that some fields of no unit need. */
const beside: Readonly<Record<string, readonly string[]>> = {
  'coefficients.klControl': ['algorithm.klCoefficient=0.01'],
};

/** Settings that have one value only in a unit: its ratio corrects by itself. */
const fixed = ['algorithm=bypass-reinforce algorithm.correction'];

/** Choices to try a setting with, where it excludes another one. */
const instead: Readonly<Record<string, readonly string[]>> = {
  'tools.mcp.url': ['protocol=vista', ...noColdStart, 'tools=mcp'],
};

/** Values that a field's own range does not tell. */
const examples: Readonly<Record<string, readonly unknown[]>> = {
  'judge.baseUrl': ['http://127.0.0.1:2/v1'],
  'judge.keyVariable': ['PATH'],
  'algorithm.rejection': ['token-k3'],
  'tools.mcp.url': ['http://127.0.0.1:3/mcp'],
  'taskSet.domains': ['maps'],
  'taskSet.kinds': ['pie', 'speech', 'circuit'],
  'taskSet.of': ['maps'],
  'taskSet.ofSettings': ['hardest=2'],
  'taskSet.operations': ['color', 'amount', 'next-word', 'room-size'],
  'taskSet.poses': ['rotate_90'],
  'taskSet.changes': ['moved'],
  'taskSet.format': ['parquet'],
  'taskSet.mapping': ['chartqa'],
  'taskSet.sources': ['data/a;weight=2,data/b;weight=1'],
  'tools.served.names': ['image_flip_tool,read_code'],
};

const configure = (...settings: readonly string[]): ResolvedRun => {
  const run = resolveRun(applySettings({}, settings.map(parseSetting)));
  checkRun(run);
  return run;
};

/** Values to try for a field, all but its default. */
function candidates({ path, range, default: preset }: SettingField): readonly unknown[] {
  const known = examples[path];
  if (known !== undefined) return known;
  const words = /^one of (.*)$/.exec(range)?.[1]?.split(', ');
  const bounds = /in \[(.+), (.+)\]$/.exec(range)?.slice(1).map(Number);
  const all = (): readonly unknown[] => {
    if (words !== undefined) return words;
    if (range === 'true or false') return [true, false];
    if (range === 'a list of texts') return ['one,two'];
    const [low = 0, high = 0] = bounds ?? [];
    if (bounds === undefined) return ['other', 'http://127.0.0.1:3'];
    const near = typeof preset === 'number' ? preset : Math.max(low, 1);
    const steps = [1, 2, -1, -2, 0.5, -0.5, 0.01, -0.01].map((step) => near + step);
    return [...steps, near * 2, near / 2, low, high].filter((x) => x >= low && x <= high);
  };
  return all().filter((value) => JSON.stringify(value) !== JSON.stringify(preset));
}

/** The value at a dotted path of a configuration; elements of lists go by their names. */
function valueAt(config: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, word) => {
    if (Array.isArray(at)) return at.find(({ name }) => name === word);
    return (at as Record<string, unknown> | undefined)?.[word];
  }, config);
}

/** Why no value of a field can be set; undefined if one can. */
function problemOf(before: readonly string[], field: SettingField): string | undefined {
  const { path, range } = field;
  if (fixed.includes(`${before.join(' ')} ${path}`)) return undefined;
  let problem = 'nothing to try';
  for (const value of candidates(field)) {
    try {
      const { config } = configure(...(instead[path] ?? before), `${path}=${value}`);
      const expected = range === 'a list of texts' ? String(value).split(',') : value;
      const found = valueAt(config, path);
      // A term's weight may be given as a number.
      if (JSON.stringify(found) === JSON.stringify(expected)) return undefined;
      problem = `${path}=${value} became ${JSON.stringify(found)}`;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problem = error.message;
    }
  }
  return `${before.join(' ')} ${path}: ${problem}`;
}

/** Why settings cannot be had together; undefined if they can. */
function problemOfValue(settings: readonly string[]): string | undefined {
  try {
    configure(...settings);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

const everySlot = Object.entries(slots) as [SlotKey, Slot<unknown> | ListSlot<unknown>][];

describe.each(everySlot)('%s', (key, slot) => {
  it.each(slot.registry.names)('%s and each of its settings can be set', (name) => {
    const others = company[`${key}=${name}`] ?? company[key] ?? [];
    const before = [...others, `${key}=${name}`];
    const { config, units, outside, fields } = configure(...before);
    const selected = isListSlot(slot) ? valueAt(config, `${key}.${name}`) : config[key];
    expect(selected).toMatchObject({ name });
    const [unit] = [units[key]].flat();
    expect(unit).toBe(slot.registry.get(name));
    expect(outside).toEqual([]);
    const own = fields.filter(({ path }) => path.startsWith(`${key}.`));
    expect(own.map((field) => problemOf(before, field)).filter((one) => one)).toEqual([]);
  });
});

it('sets every value of every choice, in some unit that has it', () => {
  const done = new Map<string, string | undefined>();
  for (const [key, slot] of everySlot) {
    for (const name of slot.registry.names) {
      const before = [...(company[`${key}=${name}`] ?? company[key] ?? []), `${key}=${name}`];
      const { fields } = configure(...before);
      for (const { path, range } of fields) {
        if (!path.startsWith(`${key}.`)) continue;
        for (const word of /^one of (.*)$/.exec(range)?.[1]?.split(', ') ?? []) {
          const value = `${path}=${word}`;
          if (done.has(value) && done.get(value) === undefined) continue;
          done.set(value, problemOfValue([...before, value]));
        }
      }
    }
  }
  const problems = [...done].filter(([, problem]) => problem !== undefined);
  expect(done.size).toBeGreaterThan(100);
  expect(problems).toEqual([]);
});

it('sets every field that belongs to no unit', () => {
  const fields = fieldsOf({}).filter(({ path }) => !Object.hasOwn(slots, path.split('.')[0] ?? ''));
  expect(fields.length).toBeGreaterThan(20);
  const problems = fields.map((field) => problemOf(beside[field.path] ?? [], field));
  expect(problems.filter((one) => one)).toEqual([]);
});

/** Catalogs that are no slot: what a person reaches their units by. */
const elsewhere: Readonly<Record<string, string>> = {
  'algorithms/src/advantages': 'parts of algorithms',
  'algorithms/src/aggregations': 'algorithm.aggregation',
  'algorithms/src/coefficients': 'coefficients.klControl and coefficients.entropyControl',
  'algorithms/src/corrections': 'algorithm.correction and its thresholds',
  'algorithms/src/kl': 'algorithm.kl',
  'algorithms/src/ratios': 'parts of algorithms',
  'algorithms/src/selectors': 'parts of algorithms',
  'algorithms/src/surrogates': 'parts of algorithms',
  'algorithms/src/token-advantages': 'parts of algorithms',
  'attention/src/ops': 'ops, which models call',
  'backend-gpujs/src/kernels':
    'no run: two forwards for browsers without WebGPU, which refuse everything else',
  'data/src/formats': 'coldStart.format of coldStart=given, and saccade synthesize',
  'datasets/src/mappings': 'taskSet.mapping',
  'datasets/src/readers': 'taskSet.format',
  'datasets/src/writers': 'saccade data export --format',
  'eval/src/suites': 'saccade eval --suite, and evaluation.suites',
  'experiments/src/experiments': 'saccade experiment <name>',
  'logprob/src/ops': 'ops, which models call',
  'ops/src/ops': 'ops, which models call',
  'policy/src/architectures': 'the model_type of a checkpoint’s config.json',
  'policy/src/processor/families': 'the processor_class of a checkpoint’s files, or its model_type',
  'rewards/src/audit': 'audit: every run is audited by all of them, at its thresholds',
  'rewards/src/judges': 'kinds of judgments, which a judge of the slot gives',
  'rewards/src/rewards': 'terms of presets',
  'run-store/src/metrics': 'metrics, which every run logs',
  'synthesis/src/filters': 'filters of saccade synthesize',
  'synthesis/src/pipelines': 'saccade synthesize <name>',
  'train/src/recipes': 'saccade train <name>',
  'vision-tools/src/quality/suites': 'node packages/vision-tools/bin/quality.js <tool>',
};

/** Catalogs whose units fill slots. */
const ofSlots: Readonly<Record<string, readonly SlotKey[]>> = {
  'algorithms/src/algorithms': ['algorithm'],
  'data/src/cold-starts': ['coldStart'],
  'datasets/src/task-sets': ['taskSet'],
  'gym/src/protocols': ['protocol'],
  'gym/src/tasksets': ['taskSet'],
  'mcp/src/units': ['tools'],
  'optim/src/optimizers': ['optimizer', 'sftOptimizer'],
  'optim/src/schedules': ['schedule', 'sftSchedule'],
  'policy/src/model-units': ['model'],
  'policy/src/engines': ['engine'],
  'rewards/src/judging': ['judge'],
  'rewards/src/presets': ['reward'],
  'rewards/src/verifiers': ['verifier'],
  'sandbox/src/units': ['sandbox'],
  'schedulers/src/schedulers': ['scheduler'],
  'tools/src/tools': ['tools'],
  'trackers/src/trackers': ['trackers'],
  'train/src/backends': ['backend'],
  'train/src/models': ['model'],
  'train/src/tools': ['tools'],
  'vision-tasks/src/task-sets': ['taskSet'],
  'vision-tasks/src/wrappers': ['taskSet'],
  'vision-tools/src/tools': ['tools'],
};

const packages = join(import.meta.dirname, '../..');

it('leaves no catalog without a way to it', async () => {
  const folders = readdirSync(packages).flatMap((name) => {
    const source = join(packages, name, 'src');
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
    return files
      .filter((file) => /(^|\/)catalog\.ts$/.test(file))
      .map((file) => `${name}/src/${file.replace(/\/?catalog\.ts$/, '')}`);
  });
  expect(folders.sort()).toEqual([...Object.keys(elsewhere), ...Object.keys(ofSlots)].sort());
  const keys = new Set(Object.values(ofSlots).flat());
  expect([...keys].sort()).toEqual(Object.keys(slots).sort());
  for (const key of keys) {
    // Several packages may fill one slot.
    const catalogs = Object.entries(ofSlots).filter(([, filled]) => filled.includes(key));
    const expected = await Promise.all(
      catalogs.map(([folder]) => import(join(packages, folder, 'catalog.ts')) as Promise<object>),
    );
    const units = slots[key].registry.entries().map(([, unit]) => unit);
    expect(new Set(units)).toEqual(new Set(expected.flatMap((one) => Object.values(one))));
  }
});

/** Folders whose units make up algorithms by being imported, not by a name that is set. */
const parts = ['advantages', 'selectors', 'surrogates', 'token-advantages'];

it('uses every part of an algorithm in some algorithm', () => {
  const source = join(packages, 'algorithms/src');
  // Straight, or by what several of them share.
  const users = [
    ...readdirSync(join(source, 'algorithms')).map((file) => join('algorithms', file)),
    ...['group-relative.ts', 'compose.ts'],
  ];
  const text = users.map((file) => readFileSync(join(source, file), 'utf8')).join('\n');
  const unused = parts.flatMap((folder) =>
    readdirSync(join(source, folder))
      .filter((file) => !/^catalog\.ts$|\.test\.ts$/.test(file))
      .map((file) => `/${folder}/${file}'`)
      .filter((end) => !text.includes(end)),
  );
  // Parts of parts: what turns share, how covariances are taken.
  expect(unused).toEqual(["/selectors/covariance.ts'", "/token-advantages/turn-inputs.ts'"]);
});

it('uses every reward term in some preset', async () => {
  const { presets, rewards } = await import('@saccade/rewards');
  const used = new Set(
    presets.entries().flatMap(([, { terms }]) => terms.map(({ reward }) => reward.name)),
  );
  expect(rewards.names.filter((name) => !used.has(name))).toEqual([]);
});
