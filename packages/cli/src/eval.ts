/** `saccade eval`: a checkpoint of a run on its held-out tasks, or a model on suites. */
import { join, resolve } from 'node:path';
import { ConfigError } from '@saccade/core';
import { evaluate, suiteGroups, suites } from '@saccade/eval';
import { wilsonInterval } from '@saccade/report';
import {
  describeDamage,
  makeDirectories,
  nodeFileSystem,
  openMetricsLog,
  readState,
  trajectoriesOf,
  writeConfig,
} from '@saccade/run-store';
import {
  applySettings,
  chatRun,
  inputOfRun,
  openChatModel,
  openParts,
  type ResolvedRun,
  type RunInput,
  readRunConfig,
  resolveRun,
  type Setting,
  secret,
} from '@saccade/train';
import { readConfigFile } from './config-file.ts';
import { defaultDirectory, planSuites, runSuites, type SuiteFlags } from './eval-suites.ts';
import { locateCheckpoint, openCheckpoint } from './evaluated-model.ts';
import { abortOnInterruption } from './interruption.ts';
import { printJson } from './json.ts';
import { openPython } from './shared.ts';
import { formatTable } from './table.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface EvalFlags extends SuiteFlags {
  readonly baseUrl?: string;
  readonly keyVariable?: string;
  readonly engine?: string;
  readonly engineModel?: string;
  readonly engineKeyVariable?: string;
  readonly publish?: boolean;
  readonly seed?: number;
  readonly set: readonly Setting[];
  readonly config?: string;
  readonly out?: string;
  readonly backend?: string;
}

const CHAT = 'chat:';

/** Evaluates a run, one of its checkpoints, or `chat:<model>`. */
export async function evaluateModel(model: string, flags: EvalFlags): Promise<void> {
  if (model.startsWith(CHAT)) await runChat(model.slice(CHAT.length), flags);
  else await run(resolve(model), flags);
}

/** A model behind a chat API on suites. @throws ConfigError without suites or an address */
async function runChat(name: string, flags: EvalFlags): Promise<void> {
  const { baseUrl, keyVariable, suite, out = join('evaluations', fileName(name)) } = flags;
  if (suite === undefined || name === '') {
    throw new ConfigError(
      'suite',
      `${CHAT}${name} has no held-out tasks of its own. Say which suites: ` +
        `saccade eval ${CHAT}${name || '<model>'} --suite charts --base-url http://127.0.0.1:8000/v1.`,
    );
  }
  if (baseUrl === undefined) {
    throw new ConfigError(
      'base-url',
      `--base-url: expected the address of the server of ${CHAT}${name}, got none. ` +
        'Give --base-url http://127.0.0.1:8000/v1.',
    );
  }
  const onEvent = terminalProgress({ stream: process.stderr });
  const plan = await planSuites(flags, settingsOf(withoutSuites(flags)), chatRun);
  const apiKey = keyVariable && secret('key-variable', keyVariable);
  const directory = resolve(out);
  const interruption = abortOnInterruption(onEvent);
  const { price } = flags;
  const model = await openChatModel(plan.base, {
    ...{ baseUrl, model: name },
    ...(apiKey && { apiKey }),
    ...(price && { promptPrice: price.perMillionRead, completionPrice: price.perMillionWritten }),
  });
  try {
    await runSuites(model, plan, flags, { directory, onEvent, signal: interruption.signal });
    const { requests, promptTokens, completionTokens, cost, retries } = model.sampler.usage();
    if (!flags.json && requests > 0) {
      console.log(
        `${requests} requests (${retries} retried), ${promptTokens} tokens read, ` +
          `${completionTokens} written${price ? `, cost ${cost.toFixed(2)}` : ''}.`,
      );
    }
  } finally {
    interruption.dispose();
    await model.dispose();
  }
}

/** A model's name as the name of a directory. */
const fileName = (name: string): string => name.replaceAll(/[^\w.-]+/g, '-');

/** The flags without those that suites take: tasks and sampling are theirs. */
function withoutSuites(flags: EvalFlags): Omit<EvalFlags, 'suite'> {
  const { count: _, temperature: __, topK: ___, topP: ____, minP: _____, ...others } = flags;
  return others;
}

async function run(path: string, flags: EvalFlags): Promise<void> {
  const onEvent = terminalProgress({ stream: process.stderr });
  const located = locateCheckpoint(path, onEvent);
  const { runDirectory, checkpoint } = located;
  const stored = await readRunConfig(runDirectory, onEvent);
  const resolveWith = (settings: readonly Setting[]): ResolvedRun =>
    resolveRun(applySettings({ ...inputOfRun(stored), engine: engineOf(flags) }, settings));
  const python = (): Promise<string> => openPython(onEvent);
  if (flags.suite !== undefined) {
    const plan = await planSuites(flags, settingsOf(withoutSuites(flags)), resolveWith);
    const out = flags.out ?? defaultDirectory(runDirectory, checkpoint.step);
    const directory = resolve(out);
    const interruption = abortOnInterruption(onEvent);
    const model = await openCheckpoint(located, plan.base, { python, onEvent, directory });
    try {
      await runSuites(model, plan, flags, { directory, onEvent, signal: interruption.signal });
    } finally {
      interruption.dispose();
      await model.dispose();
    }
    return;
  }
  const resolved = resolveWith(settingsOf(flags));
  const { config } = resolved;
  const directory =
    flags.out === undefined
      ? join(runDirectory, 'evaluations', `step-${checkpoint.step}`)
      : resolve(flags.out);
  makeDirectories(nodeFileSystem, trajectoriesOf(directory));
  // A replay reads the options of this evaluation, not those of the run.
  writeConfig(directory, config);
  const parts = await openParts(resolved, { python, onEvent, directory });
  const log = openMetricsLog(join(directory, 'metrics.jsonl'));
  for (const one of log.damage) onEvent({ kind: 'warning', message: describeDamage(one) });
  try {
    // With the optimizer comes the version that its trajectories are recorded under.
    await parts.policy.load(join(checkpoint.directory, 'policy'), { optimizer: true });
    const state = readState(checkpoint.directory);
    const result = await evaluate({ config, parts, directory, log, onEvent, state }, 'eval');
    const { low, high } = wilsonInterval(result.accuracy, result.count);
    if (flags.json) {
      printJson({ ...result, interval: [low, high], step: checkpoint.step, directory });
      return;
    }
    console.log(
      `Accuracy ${(100 * result.accuracy).toFixed(1)} % (95 % interval ${(100 * low).toFixed(1)} to ` +
        `${(100 * high).toFixed(1)}) over ${result.count} held-out tasks, ` +
        `${result.toolCalls.toFixed(2)} tool calls and ${result.turns.toFixed(2)} turns a task.`,
    );
  } finally {
    log.close();
    await parts.dispose();
  }
}

/** The suites and their groups. */
export function suiteHelp(): string {
  const rows = suites
    .entries()
    .map(([name, { description, form }]) => [
      `  ${name}`,
      form.length === 0 ? description : `${description} Form of ${form.join(', ')}.`,
    ]);
  const groups = Object.entries(suiteGroups).map(
    ([group, names]) => `  ${group}: ${names.join(', ')}`,
  );
  return ['Suites:', ...formatTable(rows), '', 'Groups of suites:', ...groups].join('\n');
}

/** The fields that flags set; those of --set come last but for those with a flag of their own. */
function settingsOf(flags: Omit<EvalFlags, 'suite'>): readonly Setting[] {
  const { count, temperature, topK, topP, minP, seed, backend } = flags;
  const values = {
    'evaluation.count': count,
    'evaluation.temperature': temperature,
    'evaluation.topK': topK,
    'evaluation.topP': topP,
    'evaluation.minP': minP,
    seed,
    backend,
  };
  const settings: Setting[] = [...readConfigFile(flags.config), ...flags.set];
  for (const [path, value] of Object.entries(values)) {
    if (value === undefined) continue;
    settings.push({ path, value });
  }
  return settings;
}

/** The engine that the flags name; without one the checkpoint is sampled here. */
function engineOf(flags: EvalFlags): NonNullable<RunInput['engine']> | null {
  if (flags.engine === undefined) return null;
  return {
    name: 'http',
    baseUrl: flags.engine,
    publish: flags.publish ?? false,
    ...(flags.engineModel !== undefined && { model: flags.engineModel }),
    ...(flags.engineKeyVariable !== undefined && { keyVariable: flags.engineKeyVariable }),
  };
}
