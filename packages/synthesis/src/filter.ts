/** Filters of candidates: units that keep a trajectory, or say why not. */
import type { ChatModel } from '@saccade/chat';
import { ConfigError } from '@saccade/core';
import {
  readSettings,
  type SettingsInput,
  type SettingsOf,
  type SettingsSchema,
  type Unit,
} from '@saccade/core/settings';
import type { Candidate } from './play-tasks.ts';

/** What a filter may ask. */
export interface FilterContext {
  readonly judge?: ChatModel;
  readonly signal?: AbortSignal;
}

/** A filter with its settings filled in. */
export interface Filter {
  readonly name: string;
  /** Why a candidate is dropped, in a few words; undefined keeps it. */
  drops(
    candidate: Candidate,
    context: FilterContext,
  ): string | undefined | Promise<string | undefined>;
}

/** A filter as a unit. */
export interface FilterUnit<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  readonly name: string;
  /** @throws ConfigError naming the setting, what came and what was expected */
  with(settings?: SettingsInput<Schema>): Filter;
}

/** Defines your own filter. */
export function defineFilter<const Name extends string, Schema extends SettingsSchema>(definition: {
  readonly name: Name;
  readonly description: string;
  readonly settings: Schema;
  drops(
    candidate: Candidate,
    settings: SettingsOf<Schema>,
    context: FilterContext,
  ): string | undefined | Promise<string | undefined>;
}): FilterUnit<Schema> & { readonly name: Name } {
  const { name, description, settings: schema } = definition;
  return {
    ...{ name, description, settings: schema },
    with(given) {
      const settings = readSettings(`filters.${name}`, schema, given ?? {});
      return {
        name,
        drops: (candidate, context) => definition.drops(candidate, settings, context),
      };
    },
  };
}

/** What one filter did. */
export interface FilterCount {
  readonly filter: string;
  readonly given: number;
  readonly kept: number;
  /** Dropped candidates, by reason. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** The candidates that every filter keeps, in order, and what each filter did to those it was given. */
export async function applyFilters(
  candidates: readonly Candidate[],
  filters: readonly Filter[],
  context: FilterContext = {},
): Promise<{ readonly kept: readonly Candidate[]; readonly counts: readonly FilterCount[] }> {
  let kept = candidates;
  const counts: FilterCount[] = [];
  for (const filter of filters) {
    const given = kept;
    const verdicts = await Promise.all(given.map((candidate) => filter.drops(candidate, context)));
    const reasons: Record<string, number> = {};
    for (const reason of verdicts) if (reason) reasons[reason] = (reasons[reason] ?? 0) + 1;
    kept = given.filter((_, index) => verdicts[index] === undefined);
    counts.push({ filter: filter.name, given: given.length, kept: kept.length, reasons });
  }
  return { kept, counts };
}

/** @throws ConfigError if a filter needs a judge and there is none */
export function needJudge(filter: string, judge: ChatModel | undefined): ChatModel {
  if (judge !== undefined) return judge;
  throw new ConfigError(
    'judge',
    `judge: ${filter} asks a judge, and there is none. Give --judge-url and --judge-model, or leave it out.`,
  );
}
