/**
 * The configuration of a run: sections of plain settings, and slots filled by units. Its schema is
 * composed from the units that it names; no unit's fields stand here.
 */
import { ConfigError } from '@saccade/core';
import {
  listSettings,
  readSettings,
  type SettingField,
  unknownSetting,
} from '@saccade/core/settings';
import { type Sections, sections } from './sections/sections.ts';
import {
  type FilledList,
  fieldsOfList,
  fillList,
  isListSlot,
  type ListSlot,
} from './slots/list-slot.ts';
import { type Filled, fieldsOfSlot, fillSlot, type Selected, type Slot } from './slots/slot.ts';
import { type SlotInputs, type SlotKey, slots } from './slots/slots.ts';

/** The stored form of a run: JSON, every field present but the optional ones. */
export interface RunConfig extends Sections {
  readonly backend: Selected;
  readonly model: Selected;
  readonly taskSet: Selected;
  readonly protocol: Selected;
  readonly tools?: readonly Selected[];
  readonly sandbox: Selected;
  readonly coldStart?: Selected;
  readonly scheduler: Selected;
  readonly reward: Selected;
  readonly verifier: Selected;
  readonly judge?: Selected;
  readonly algorithm: Selected;
  readonly optimizer: Selected;
  readonly schedule: Selected;
  readonly sftOptimizer: Selected;
  readonly sftSchedule: Selected;
  readonly engine?: Selected;
  readonly trackers?: readonly Selected[];
}

type PartialSection<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? Partial<Value>
    : Value;

/** The input of a recipe: any part of a configuration, and any slot's unit itself. */
export type RunInput = {
  readonly [Key in keyof Sections]?: PartialSection<Sections[Key]>;
} & SlotInputs;

/** The units of a run, by slot; a slot that is empty is absent. */
type RunUnits = {
  readonly [Key in SlotKey]?: (typeof slots)[Key] extends ListSlot<infer Some>
    ? readonly Some[]
    : (typeof slots)[Key] extends Slot<infer Some>
      ? Some
      : never;
};

/** A configuration with the units that it names. */
export interface ResolvedRun {
  readonly config: RunConfig;
  readonly units: RunUnits;
  /** Slots whose unit is in no catalog: a recipe brought it. */
  readonly outside: readonly SlotKey[];
  /** Every field that can be set, with the units that are chosen. */
  readonly fields: readonly SettingField[];
}

const slotKeys = Object.keys(slots) as readonly SlotKey[];

/** The slots that a run fills by default or not at all. */
const isSlotKey = (key: string): key is SlotKey => Object.hasOwn(slots, key);

/** Fills the slots and the sections of a run, without what has to hold between them. */
function fill(input: RunInput): ResolvedRun {
  const entries = Object.entries(input as Readonly<Record<string, unknown>>);
  const plain = Object.fromEntries(entries.filter(([key]) => !isSlotKey(key)));
  const filled = new Map<SlotKey, Filled<unknown> | FilledList<unknown>>();
  for (const key of slotKeys) {
    const slot = slots[key] as Slot<unknown> | ListSlot<unknown>;
    const one = isListSlot(slot) ? fillList(slot, input[key]) : fillSlot(slot, input[key]);
    if (one !== undefined) filled.set(key, one);
  }
  for (const key of Object.keys(plain)) {
    if (Object.hasOwn(sections.shape, key)) continue;
    throw unknownSetting(key, key, [...listSettings(sections), ...slotFields()]);
  }
  const own = readSettings('', sections, plain);
  const selections = [...filled].map(([key, { selected }]) => [key, selected] as const);
  return {
    config: { ...own, ...Object.fromEntries(selections) } as unknown as RunConfig,
    units: Object.fromEntries([...filled].map(([key, { unit }]) => [key, unit])) as RunUnits,
    outside: [...filled].filter(([, { isOutside }]) => isOutside).map(([key]) => key),
    fields: fieldsOf(input),
  };
}

/** The fields that choose units: `algorithm`, one of the known ones. */
function slotFields(): readonly SettingField[] {
  return slotKeys.map((key) => {
    const slot = slots[key] as Slot<unknown> | ListSlot<unknown>;
    const { registry, preset, about } = slot;
    const range = `${isListSlot(slot) ? 'some' : 'one'} of ${registry.names.join(', ')}`;
    return { path: key, unit: 'name', range, default: preset, isRequired: false, about };
  });
}

/**
 * Checks a run's configuration and fills in defaults, before anything is opened.
 *
 * @throws ConfigError naming the field, what came, what was expected and the nearest known field
 */
export function resolveRun(input: RunInput): ResolvedRun {
  const resolved = fill(input);
  checkTogether(resolved);
  return resolved;
}

/** A run as an input again, to change some of it: units from outside stand in their slots. */
export function inputOfRun({ config, units, outside }: ResolvedRun): RunInput {
  const own = outside.map((slot) => {
    const [selected, unit] = [config[slot], units[slot]] as readonly unknown[];
    if (!Array.isArray(selected)) return [slot, { ...(selected as Selected), name: unit }];
    const named = selected.map((one, i) => ({ ...one, name: (unit as readonly unknown[])[i] }));
    return [slot, named];
  });
  return { ...(config as RunInput), ...Object.fromEntries(own) };
}

/** The fields that can be set where an input chooses these units; values are not looked at. */
export function fieldsOf(input: RunInput): readonly SettingField[] {
  const ofUnits = slotKeys.flatMap((key) => {
    const slot = slots[key] as Slot<unknown> | ListSlot<unknown>;
    const fields = isListSlot(slot)
      ? fieldsOfList(slot, input[key])
      : (fieldsOfSlot(slot, input[key])?.fields ?? []);
    return fields.map((field) => ({ ...field, path: `${key}.${field.path}` }));
  });
  return [...listSettings(sections), ...slotFields(), ...ofUnits];
}

/** Constraints between fields of several owners. */
function checkTogether({ config, units }: ResolvedRun): void {
  const { rl, rollout } = config;
  if (rollout.maxTurnTokens >= rollout.maxContextTokens) {
    throw new ConfigError(
      'rollout.maxTurnTokens',
      `rollout.maxTurnTokens: expected less than rollout.maxContextTokens = ${rollout.maxContextTokens}, ` +
        `got ${rollout.maxTurnTokens}. A turn must fit into the context.`,
    );
  }
  const prompts = config.scheduler.promptsPerStep;
  const most = typeof prompts === 'number' ? prompts * rl.groupSize : Number.POSITIVE_INFINITY;
  if (rl.minibatches > most) {
    throw new ConfigError(
      'rl.minibatches',
      `rl.minibatches: expected at most scheduler.promptsPerStep · rl.groupSize = ${most}, ` +
        `got ${rl.minibatches}. Lower it or raise the batch.`,
    );
  }
  if (config.sft.updates > 0 && config.coldStart === undefined && config.startFrom === undefined) {
    throw new ConfigError(
      'coldStart',
      `coldStart: sft.updates is ${config.sft.updates} and there are no examples. Choose a cold ` +
        'start, or set sft.updates=0.',
    );
  }
  checkTools(units);
  checkDeterministic(config, units);
}

function checkTools({ tools, protocol }: RunUnits): void {
  if (tools === undefined) return;
  const refuse = (sentence: string): never => {
    throw new ConfigError('tools', `tools: ${sentence}`);
  };
  if (tools.length === 0) {
    refuse('expected at least one tool, got none. Leave it out to have those of the protocol.');
  }
  if (protocol?.takesTools !== true) {
    const taking = slots.protocol.registry.entries().filter(([, one]) => one.takesTools);
    refuse(
      `the protocol ${protocol?.name} takes no tools. Choose one that does ` +
        `(${taking.map(([name]) => name).join(', ')}), or leave tools out.`,
    );
  }
}

/** Refuses deadlines and sampling from stale caches in deterministic streaming runs. */
function checkDeterministic({ rl, rollout, scheduler }: RunConfig, units: RunUnits): void {
  if (!rl.deterministic || units.scheduler?.isStreaming !== true) return;
  const refuse = (field: string, reason: string): never => {
    throw new ConfigError(field, `${field}: ${reason} Change it, or set rl.deterministic=false.`);
  };
  const limits = scheduler.inFlight as { readonly deadlineSeconds?: number } | undefined;
  if (rollout.deadlineSeconds !== undefined) {
    refuse('rollout.deadlineSeconds', `a deterministic ${scheduler.name} run has no deadlines.`);
  }
  if (limits?.deadlineSeconds !== undefined) {
    refuse(
      'scheduler.inFlight.deadlineSeconds',
      `a deterministic ${scheduler.name} run has no deadlines.`,
    );
  }
  if (rl.staleCaches === 'keep') {
    const why = 'what is sampled then depends on caches that no checkpoint holds.';
    refuse('rl.staleCaches', `a deterministic ${scheduler.name} run cannot keep them: ${why}`);
  }
}
