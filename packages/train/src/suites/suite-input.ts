/** A suite as a run: the model's run with the suite's tasks, protocol and verifier. */
import { ConfigError } from '@saccade/core';
import { listSettings, readSettings, unknownSetting } from '@saccade/core/settings';
import type { Suite, SuiteSettings } from '@saccade/eval';
import type { Prompting } from '@saccade/rollout/chat-player';
import {
  fieldsOf,
  inputOfRun,
  type ResolvedRun,
  type RunInput,
  resolveRun,
} from '../run-config.ts';
import type { Setting } from '../setting.ts';
import { applySettings } from '../settings.ts';
import { slots } from '../slots/slots.ts';

/** A suite that is resolved: its own settings, and the units that it plays with. */
export interface ResolvedSuite {
  readonly suite: Suite;
  readonly settings: SuiteSettings;
  readonly run: ResolvedRun;
  /** How the model is prompted; default: as the protocol does. */
  readonly prompting: Prompting;
}

/** Settings for suites: those of all, those of one, and a protocol that goes before theirs. */
export interface SuiteChoices {
  /** Fields of every suite, e.g. `k`. */
  readonly common?: readonly Setting[];
  /** `<suite>.<field>`: fields of a suite, or of its task set, protocol, verifier and so on. */
  readonly own?: readonly Setting[];
  /** In place of the suite's protocol and the model's. */
  readonly protocol?: RunInput['protocol'];
  /** Whether the model may reason, call tools, both or neither. Default: as the protocol says. */
  readonly prompting?: Prompting;
}

/** Slots of a run that a suite may fill, and sections whose fields it may set. */
const OWN_WORDS = ['taskSet', 'protocol', 'tools', 'verifier', 'judge', 'sandbox', 'scoring'];

/**
 * Resolves a suite for a model's run, before anything is opened.
 *
 * @throws ConfigError naming `<suite>.<field>`, what came, what was expected and the nearest known
 */
export function resolveSuite(
  base: ResolvedRun,
  suite: Suite,
  choices: SuiteChoices = {},
): ResolvedSuite {
  const { common = [], own = [], prompting = 'protocol' } = choices;
  const protocol = choices.protocol ?? (suite.protocol as RunInput['protocol']);
  const prefix = `${suite.name}.`;
  const mine = own
    .filter(({ path }) => path.startsWith(prefix))
    .map(({ path, value }) => ({ path: path.slice(prefix.length), value }));
  const isPlain = ({ path }: Setting): boolean => Object.hasOwn(suite.settings.shape, path);
  const plain = [...common, ...mine.filter(isPlain)];
  const settings = readSettings(
    suite.name,
    suite.settings,
    Object.fromEntries(plain.map(({ path, value }) => [path, value])),
  );
  const { taskSet, units } = turnedBase(
    suite,
    mine.filter((setting) => !isPlain(setting)),
  );
  for (const { path } of units) {
    if (OWN_WORDS.includes(path.split('.')[0] ?? '')) continue;
    const known = fieldsOf({}).filter(({ path: one }) =>
      OWN_WORDS.includes(one.split('.')[0] ?? ''),
    );
    throw unknownSetting(`${prefix}${path}`, path, [...listSettings(suite.settings), ...known]);
  }
  const { tools: _, judge: __, ...model } = inputOfRun(base);
  const keepsTools = protocol === undefined && suite.tools === undefined;
  const input = {
    ...model,
    ...(keepsTools && base.config.tools !== undefined && { tools: inputOfRun(base).tools }),
    ...(suite.tools !== undefined && { tools: suite.tools }),
    ...(protocol !== undefined && { protocol }),
    taskSet,
    verifier: suite.verifier,
    judge: suite.judge ?? null,
  } as RunInput;
  try {
    return { suite, settings, prompting, run: resolveRun(applySettings(input, units)) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(`${prefix}${error.field}`, `suite ${suite.name}: ${error.message}`);
  }
}

/**
 * The task set of a suite, and the settings that are left for it. A suite of turned images takes those of
 * the task set that it turns, too: `orientation-chartqapro.taskSet.from=data/chartqapro`.
 */
function turnedBase(
  { taskSet }: Suite,
  units: readonly Setting[],
): { readonly taskSet: Suite['taskSet']; readonly units: readonly Setting[] } {
  if (typeof taskSet === 'string' || typeof taskSet.name !== 'string') return { taskSet, units };
  const { name, of, ofSettings } = taskSet;
  if (typeof of !== 'string' || !Array.isArray(ofSettings)) return { taskSet, units };
  const own = ['name', ...Object.keys(slots.taskSet.registry.get(name).settings.shape)];
  const fields = listSettings(slots.taskSet.registry.get(of).settings);
  const changed = new Map<string, string>();
  const others = units.filter((setting) => {
    const { path, value } = setting;
    const key = /^taskSet\.(.+)$/.exec(path)?.[1];
    if (key === undefined || own.includes(key)) return true;
    const field = fields.find((one) => one.path === key);
    if (field === undefined) throw unknownSetting(path, key, fields);
    const isList = field.range === 'a list of texts' && !Array.isArray(value);
    const values = isList ? String(value).split(',') : [value].flat();
    changed.set(key, `${key}=${values.map((one) => String(one).trim()).join('+')}`);
    return false;
  });
  const kept = (ofSettings as readonly string[]).filter((each) => {
    return !changed.has(each.replace(/=.*$/s, ''));
  });
  return { taskSet: { ...taskSet, ofSettings: [...kept, ...changed.values()] }, units: others };
}
