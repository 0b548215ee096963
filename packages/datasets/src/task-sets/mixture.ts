/** `mixture`: tasks of several data sets, by weights or by a temperature. */
import { ConfigError } from '@saccade/core';
import { choice, count, listSettings, optionalQuantity, quantity, readSettings } from '@saccade/core/settings';
import { defineTaskSet } from '@saccade/gym';
import { z } from 'zod';
import { leaveDuplicatesOut } from '../mixture/duplicates.ts';
import { temperatureWeights } from '../mixture/interleave.ts';
import { DataSource, type SourceContext } from '../sources/data-source.ts';
import { checkMappingName } from '../sources/find-mapping.ts';
import { sourceFields } from '../sources/source-settings.ts';
import { closed, named, passesOf, streamFields } from './dataset.ts';
import { type MixedSource, MixedTasks } from './mixed-tasks.ts';

/** Settings of one source in a mixture. */
const memberSettings = z.strictObject({
  ...sourceFields,
  weight: optionalQuantity({
    min: 0,
    max: 1e9,
    unit: 'relative',
    about: 'Share of the tasks, against that of the other sources; unset: by the temperature.',
  }),
  epochs: count({
    min: 0,
    max: 2 ** 20,
    default: 0,
    unit: 'passes',
    about: 'Passes over its rows; 0: those of the mixture.',
  }),
});

type Member = z.output<typeof memberSettings>;

const settings = z.strictObject({
  sources: z
    .array(z.union([z.string().min(1), z.record(z.string(), z.unknown())]))
    .min(1)
    .meta({
      unit: 'sources',
      description:
        'Each an object with the settings of a source, or a text from=…;mapping=…;weight=…;cap=….',
    }),
  temperature: quantity({
    min: 1e-3,
    max: 1e6,
    default: 1,
    unit: 'T in n^(1/T)',
    about: 'Shares of sources without weights: 1 as their sizes, large values equal.',
  }),
  duplicates: choice(['keep', 'exact', 'perceptual'], {
    default: 'keep',
    about: 'Whether equal rows, or rows with images that look the same, are left out of training.',
  }),
  maxDistance: count({
    min: 0,
    max: 16,
    default: 4,
    unit: 'bits of 64',
    about: 'Difference of the hashes of two images that look the same.',
  }),
  ...streamFields,
});

const NAME = 'mixture';
const DESCRIPTION = 'Several data sets by weights or a temperature, without duplicates, row by row.';

/** Sources interleaved as evenly as their shares allow; `metadata.source` is the source of a task. */
export const mixture = defineTaskSet({
  name: NAME,
  description: DESCRIPTION,
  settings,
  create(given) {
    const members = given.sources.map(memberOf);
    for (const { mapping } of members) checkMappingName(mapping);
    checkWeights(members);
    return {
      ...closed(NAME),
      async open({ hub, onEvent }) {
        const context = { ...(hub && { hub }), ...(onEvent && { onEvent }) };
        const sources = await openSources(members, context);
        try {
          if (given.duplicates !== 'keep') {
            const found = await leaveDuplicatesOut(sources, {
              by: given.duplicates,
              maxDistance: given.maxDistance,
              ...context,
            });
            for (const { source, repeated, heldOut } of found) {
              if (repeated + heldOut === 0) continue;
              const message =
                `${source}: ${repeated} rows that repeat others and ${heldOut} with held-out images ` +
                'are left out of training.';
              onEvent?.({ kind: 'warning', message });
            }
          }
          const tasks = new MixedTasks(mixed(members, sources, given), given.seed);
          return named(NAME, DESCRIPTION, tasks);
        } catch (error) {
          for (const source of sources) await source.dispose();
          throw error;
        }
      },
    };
  },
});

/** A member from its object or its text. @throws ConfigError naming the source and the field */
function memberOf(given: string | Readonly<Record<string, unknown>>, index: number): Member {
  const at = `taskSet.sources[${index}]`;
  const values = typeof given === 'string' ? readText(at, given) : given;
  return readSettings(at, memberSettings, values);
}

/** `from=data/a;mapping=chartqa;weight=2`: a value that has no name is that of `from`. */
function readText(at: string, text: string): Readonly<Record<string, unknown>> {
  const fields = new Map(listSettings(memberSettings).map((field) => [field.path, field]));
  const values: Record<string, unknown> = {};
  for (const part of text.split(';')) {
    const equals = part.indexOf('=');
    const key = equals < 0 ? 'from' : part.slice(0, equals).trim();
    const value = part.slice(equals + 1).trim();
    const range = fields.get(key)?.range ?? '';
    if (key in values) throw new ConfigError(at, `${at}: ${key} stands twice in ${JSON.stringify(text)}.`);
    if (range.startsWith('a list')) values[key] = value.split('+');
    else if (/^an? (integer|number)/.test(range) && value !== '') {
      values[key] = Number.isNaN(Number(value)) ? value : Number(value);
    } else values[key] = value;
  }
  return values;
}

function checkWeights(members: readonly Member[]): void {
  const weighted = members.filter(({ weight }) => weight !== undefined);
  if (weighted.length === 0 || weighted.length === members.length) return;
  const without = members.findIndex(({ weight }) => weight === undefined);
  throw new ConfigError(
    `taskSet.sources[${without}].weight`,
    `taskSet.sources[${without}].weight: ${weighted.length} of ${members.length} sources have a weight. ` +
      'Give one to each, or to none and set taskSet.temperature.',
  );
}

async function openSources(
  members: readonly Member[],
  context: SourceContext,
): Promise<readonly DataSource[]> {
  const sources: DataSource[] = [];
  try {
    for (const { weight: _, epochs: __, ...own } of members) {
      sources.push(await DataSource.open(own, context));
    }
    const names = sources.map(({ name }) => name);
    const twice = names.findIndex((name, i) => names.indexOf(name) < i);
    if (twice < 0) return sources;
    throw new ConfigError(
      `taskSet.sources[${twice}].name`,
      `taskSet.sources[${twice}].name: two sources are called ${names[twice]}. Give one another name.`,
    );
  } catch (error) {
    for (const source of sources) await source.dispose();
    throw error;
  }
}

function mixed(
  members: readonly Member[],
  sources: readonly DataSource[],
  { temperature, epochs }: { readonly temperature: number; readonly epochs: number },
): readonly MixedSource[] {
  const sizes = sources.map((source) => source.size('train'));
  const byTemperature = temperatureWeights(sizes, temperature);
  return sources.map((source, i) => ({
    source,
    weight: members[i]?.weight ?? byTemperature[i] ?? 0,
    epochs: passesOf(members[i]?.epochs || epochs),
  }));
}
