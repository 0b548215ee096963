/** `saccade eval --suite`: a model on suites, into a directory that the same command continues. */
import { join, resolve } from 'node:path';
import { ConfigError, type EventSink } from '@saccade/core';
import {
  compareEvaluations,
  evaluateSuites,
  measureDefaults,
  type Prices,
  priceOf,
  type SuiteEstimate,
} from '@saccade/eval';
import { describeDamage, readEvaluation } from '@saccade/run-store';
import {
  findSuites,
  openSuites,
  type ResolvedRun,
  type ResolvedSuite,
  type RunInput,
  resolveSuite,
  type Setting,
} from '@saccade/train';
import { describeComparison, describeSuites } from './describe-suites.ts';
import type { OpenModel } from './evaluated-model.ts';
import { printJson } from './json.ts';
import { openPython } from './shared.ts';

/** Flags of `saccade eval` that are about suites. */
export interface SuiteFlags {
  readonly suite?: readonly string[];
  readonly k?: number;
  readonly count?: number;
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly minP?: number;
  readonly mode?: ResolvedSuite['prompting'];
  readonly protocol?: string;
  readonly against?: string;
  readonly dryRun?: boolean;
  readonly price?: Prices;
  readonly json?: boolean;
}

/** What a suite evaluation is about, before the model is open. */
export interface SuitePlan {
  readonly suites: readonly ResolvedSuite[];
  readonly base: ResolvedRun;
}

/** Settings of a list that name one of these suites, and the others. */
function splitSettings(
  settings: readonly Setting[],
  names: readonly string[],
): { readonly own: readonly Setting[]; readonly others: readonly Setting[] } {
  const isOwn = ({ path }: Setting): boolean => names.some((name) => path.startsWith(`${name}.`));
  return {
    own: settings.filter(isOwn),
    others: settings.filter((setting) => !isOwn(setting)),
  };
}

/**
 * Finds and checks the suites that flags name, before anything is opened.
 *
 * @param resolveBase the model's run with the settings that are about no suite
 */
export async function planSuites(
  flags: SuiteFlags,
  settings: readonly Setting[],
  resolveBase: (others: readonly Setting[]) => ResolvedRun,
): Promise<SuitePlan> {
  const found = await findSuites(flags.suite ?? []);
  const { own, others } = splitSettings(
    settings,
    found.map(({ name }) => name),
  );
  const base = resolveBase(others);
  const { protocol, mode: prompting } = flags;
  const common = commonOf(flags);
  const suites = found.map((suite) =>
    resolveSuite(base, suite, {
      ...{ common, own },
      ...(protocol !== undefined && { protocol: protocol as RunInput['protocol'] }),
      ...(prompting !== undefined && { prompting }),
    }),
  );
  return { suites, base };
}

function commonOf(flags: SuiteFlags): readonly Setting[] {
  const { k, count: tasks, temperature, topK, topP, minP } = flags;
  return Object.entries({ k, tasks, temperature, topK, topP, minP }).flatMap(([path, value]) => {
    if (value === undefined) return [];
    if (Number.isNaN(value)) throw new ConfigError(path, `${path}: expected a number.`);
    return [{ path, value }];
  });
}

/** Evaluates an open model, prints the results, and sets the exit status. */
export async function runSuites(
  model: OpenModel,
  { suites }: SuitePlan,
  flags: SuiteFlags,
  {
    directory,
    onEvent,
    signal,
  }: {
    readonly directory: string;
    readonly onEvent: EventSink;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const opened = await openSuites(suites, {
    python: () => openPython(onEvent),
    onEvent,
    directory,
  });
  const { config } = model.run;
  try {
    const { results, missing } = await evaluateSuites({
      model: model.identity,
      sampler: model.sampler,
      images: model.images,
      suites: opened.suites,
      directory,
      seed: config.seed,
      concurrency: config.rollout.concurrency,
      retries: config.rollout.retries,
      measure: { ...measureDefaults, shownShare: config.evaluation.shownShare },
      onEvent,
      signal,
      onEstimate(estimates) {
        if (!flags.json) for (const line of describeEstimate(estimates, flags)) console.log(line);
        else if (flags.dryRun) printJson({ estimates });
        return flags.dryRun !== true;
      },
    });
    if (flags.dryRun) return;
    if (flags.json) printJson({ directory, model: model.identity, ...results, failures: missing });
    else {
      const names = suites.map(({ suite }) => suite.name);
      for (const line of describeSuites(results, names)) console.log(line);
      if (flags.against !== undefined) {
        for (const line of comparisonLines(directory, flags.against, names, onEvent)) {
          console.log(line);
        }
      }
      console.log(`\nSamples and results: ${directory}`);
    }
    for (const [suite, why] of Object.entries(missing)) {
      console.error(
        `error: suite ${suite}: ${why}. Run the same command again to draw them; the others are kept.`,
      );
      process.exitCode = 1;
    }
  } finally {
    await opened.dispose();
  }
}

/** Where an evaluation of suites goes that says no `--out`. */
export function defaultDirectory(runDirectory: string, step: number): string {
  return join(runDirectory, 'evaluations', `suites-step-${step}`);
}

function describeEstimate(
  estimates: readonly SuiteEstimate[],
  { price: prices, dryRun }: SuiteFlags,
): readonly string[] {
  const sum = (of: (one: SuiteEstimate) => number): number =>
    estimates.reduce((total, one) => total + of(one), 0);
  const kept = sum((one) => one.kept);
  const lines = [
    `${count(sum((one) => one.toDraw))} samples to draw in ${estimates.length} ` +
      `suite${estimates.length === 1 ? '' : 's'}` +
      `${kept > 0 ? `, ${count(kept)} are there` : ''}: at most ${count(sum((o) => o.requests))} ` +
      `requests and ${count(sum((one) => one.writtenTokens))} written tokens.`,
  ];
  if (prices !== undefined) {
    lines.push(
      `At most ${priceOf(estimates, prices).toFixed(2)} in the currency of --price; most trajectories are shorter.`,
    );
  }
  if (dryRun) {
    for (const one of estimates) {
      lines.push(`  ${one.suite}: ${count(one.toDraw)} to draw, ${count(one.kept)} kept`);
    }
  }
  return lines;
}

const count = (value: number): string => value.toLocaleString('en-US');

function comparisonLines(
  directory: string,
  against: string,
  suites: readonly string[],
  onEvent: EventSink,
): readonly string[] {
  const [mine, theirs] = [directory, resolve(against)].map((one) => {
    const { value, damage } = readEvaluation(one);
    for (const each of damage) onEvent({ kind: 'warning', message: describeDamage(each) });
    return value;
  });
  if (mine === undefined || theirs === undefined) return [];
  const shared = suites.filter((name) => theirs.suites.some((suite) => suite.name === name));
  const compared = shared.map((name) => compareEvaluations(mine, theirs, name));
  return describeComparison(compared, theirs.model.label);
}
