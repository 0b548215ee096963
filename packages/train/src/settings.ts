/** From text to a configuration: `--set a.b=v`, a recipe's numbers, a run's config.json. */
import { ConfigError } from '@saccade/core';
import { protocols } from '@saccade/gym';
import type { PartialConfig, RunConfig } from './config.ts';
import { type ConfigField, listConfigFields } from './config-fields.ts';
import { runConfigSchema } from './config-schema.ts';

/** A value given by hand for one field. */
export interface Setting {
  readonly path: string;
  readonly value: unknown;
}

/** Edit distance between two strings (insert, delete, replace). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}

/** The known paths nearest to an unknown one: same last word first, then by edit distance. */
function nearestPaths(path: string, known: readonly string[]): string[] {
  const lastWord = (text: string): string => text.slice(text.lastIndexOf('.') + 1);
  const wanted = lastWord(path).toLowerCase();
  const sameWord = known.filter((item) => lastWord(item).toLowerCase() === wanted);
  if (sameWord.length > 0) return sameWord;
  const distance = (item: string): number =>
    Math.min(
      editDistance(path.toLowerCase(), item.toLowerCase()),
      editDistance(wanted, lastWord(item).toLowerCase()) + 1,
    );
  const best = [...known].sort((a, b) => distance(a) - distance(b))[0];
  return best !== undefined && distance(best) <= Math.max(3, wanted.length / 2) ? [best] : [];
}

function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  const kind = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  const text = JSON.stringify(value) ?? String(value);
  const shown = text.length > 60 ? `${text.slice(0, 57)}...` : text;
  return value === null ? 'null' : `${shown}, ${kind.replace('a object', 'an object')}`;
}

function unknownField(path: string, fields: readonly ConfigField[]): ConfigError {
  const nearest = nearestPaths(
    path,
    fields.map((field) => field.path),
  );
  const group = fields.filter((field) => field.path.startsWith(`${path}.`));
  const remedy =
    group.length > 0
      ? `It is a group; set one of ${group.map((field) => field.path).join(', ')}.`
      : nearest.length > 0
        ? `Did you mean ${nearest.join(' or ')}?`
        : 'Known fields: see "saccade recipes show pyvision-image-nano".';
  return new ConfigError(path, `${path}: there is no field of this name. ${remedy}`);
}

/**
 * The whole path of a field that may be written short: its last word where no other field ends so,
 * `algorithm.<setting>` for a setting of the algorithm, `reward.<term>` for a term's weight.
 */
function resolvePath(path: string): string {
  const fields = listConfigFields();
  const setting = /^(?:rl\.)?algorithm(?:Settings)?\.(\w+)$/.exec(path)?.[1];
  if (setting !== undefined) return `rl.algorithmSettings.${setting}`;
  const term = /^(?:rl\.)?reward(?:Weights)?\.([\w-]+)$/.exec(path)?.[1];
  if (term !== undefined) return `rl.rewardWeights.${term}`;
  if (fields.some((field) => field.path === path)) return path;
  const [found, another] = fields.filter((field) => field.path.endsWith(`.${path}`));
  if (found === undefined || another !== undefined) throw unknownField(path, fields);
  return found.path;
}

/**
 * Reads one `path=value`. The value is JSON where it parses as JSON, else a string.
 *
 * @throws ConfigError if there is no `=` or the path is not a field
 */
export function parseSetting(text: string): Setting {
  const equals = text.indexOf('=');
  if (equals <= 0) {
    throw new ConfigError(
      text,
      `--set ${text}: expected path=value, got no "=". Write it like --set rl.steps=50.`,
    );
  }
  const path = resolvePath(text.slice(0, equals).trim());
  const raw = text.slice(equals + 1).trim();
  try {
    return { path, value: JSON.parse(raw) };
  } catch {
    return { path, value: raw };
  }
}

/**
 * `base` with the settings put in; later ones win. Another algorithm starts from its own defaults:
 * the profile and settings of the one before are not its own. So does another reward.
 */
export function applySettings(base: PartialConfig, settings: readonly Setting[]): PartialConfig {
  const out = structuredClone(base) as Record<string, unknown>;
  const chosen = settings.findLast(({ path }) => path === 'rl.algorithm');
  if (chosen !== undefined && chosen.value !== base.rl?.algorithm) {
    const { profile: _, algorithmSettings: __, ...rl } = base.rl ?? {};
    out.rl = rl;
  }
  const reward = settings.findLast(({ path }) => path === 'rl.reward');
  if (reward !== undefined && reward.value !== base.rl?.reward) {
    const { rewardWeights: _, ...rl } = (out.rl ?? {}) as NonNullable<PartialConfig['rl']>;
    out.rl = rl;
  }
  for (const { path, value } of settings) {
    const words = path.split('.');
    const last = words.pop() as string;
    let owner = out;
    for (const word of words) {
      owner[word] = { ...(owner[word] as object | undefined) };
      owner = owner[word] as Record<string, unknown>;
    }
    owner[last] = value;
  }
  return out as PartialConfig;
}

/**
 * Checks values and fills in defaults.
 *
 * @throws ConfigError naming the field, what came, what was expected and the nearest known field
 */
export function validateConfig(values: unknown): RunConfig {
  const parsed = runConfigSchema.safeParse(withProtocolBudgets(values));
  if (parsed.success) {
    checkTogether(parsed.data);
    return parsed.data;
  }
  const fields = listConfigFields();
  const issue = parsed.error.issues[0];
  if (issue === undefined) throw new ConfigError('', 'The configuration is not valid.');
  const at = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    throw unknownField([...issue.path, issue.keys[0] ?? ''].join('.'), fields);
  }
  let value: unknown = values;
  for (const key of issue.path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  const field = fields.find((candidate) => candidate.path === at);
  const expected = field === undefined ? 'an object with fields' : `${field.range} (${field.unit})`;
  const remedy = field === undefined ? '' : ` Its default is ${JSON.stringify(field.preset)}.`;
  const where = at === '' ? 'configuration' : at;
  throw new ConfigError(
    where,
    `${where}: expected ${expected}, got ${describeValue(value)}.${remedy}`,
  );
}

/** Pictures in a context at most, where a protocol has no limit of its own. */
const MOST_IMAGES = 1000;

/** Budgets that are not set are the protocol's, as it was published. */
function withProtocolBudgets(values: unknown): unknown {
  if (!isRecord(values)) return values;
  const preset = listConfigFields().find(({ path }) => path === 'protocol')?.preset;
  const { protocol = preset, rollout = {} } = values;
  if (typeof protocol !== 'string' || !protocols.has(protocol) || !isRecord(rollout)) return values;
  const { toolTurns, images } = protocols.get(protocol).budgets;
  const budgets = { maxToolTurns: toolTurns, maxImages: Math.min(images, MOST_IMAGES) };
  return { ...values, rollout: { ...budgets, ...rollout } };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Constraints between fields. */
function checkTogether(config: RunConfig): void {
  const { rl, rollout } = config;
  if (rl.minibatches > rl.batchSize * rl.groupSize) {
    throw new ConfigError(
      'rl.minibatches',
      `rl.minibatches: expected at most rl.batchSize · rl.groupSize = ${rl.batchSize * rl.groupSize}, ` +
        `got ${rl.minibatches}. Lower it or raise the batch.`,
    );
  }
  if (rollout.maxTurnTokens >= rollout.maxContextTokens) {
    throw new ConfigError(
      'rollout.maxTurnTokens',
      `rollout.maxTurnTokens: expected less than rollout.maxContextTokens = ${rollout.maxContextTokens}, ` +
        `got ${rollout.maxTurnTokens}. A turn must fit into the context.`,
    );
  }
  // With frames in the context from the start, examples are readings: there is no look to show.
  if (config.sft.updates > 0 && config.sft.demonstrations === 0 && rollout.initialFrames === 0) {
    throw new ConfigError(
      'sft.demonstrations',
      'sft.demonstrations: expected at least 1 while sft.updates is above 0, got 0. Set sft.updates=0 to skip the cold start.',
    );
  }
}
