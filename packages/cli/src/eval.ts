/** `saccade eval`: a checkpoint of a run on its held-out tasks. */
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DataError } from '@saccade/core';
import { evaluate } from '@saccade/eval';
import { wilsonInterval } from '@saccade/report';
import {
  checkpointsOf,
  describeDamage,
  findLatestCheckpoint,
  makeDirectories,
  nodeFileSystem,
  openMetricsLog,
  readState,
  trajectoriesOf,
  verifyCheckpoint,
  writeConfig,
} from '@saccade/run-store';
import {
  applySettings,
  inputOfRun,
  openParts,
  type RunInput,
  readRunConfig,
  resolveRun,
  type Setting,
} from '@saccade/train';
import type { Command } from 'commander';
import { configOption, readConfigFile } from './config-file.ts';
import { jsonOption, printJson } from './json.ts';
import { addSetting } from './recipe-arguments.ts';
import { finiteNumber, openPython, wholeNumber } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

interface EvalFlags {
  readonly count?: number;
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly minP?: number;
  readonly engine?: string;
  readonly engineModel?: string;
  readonly engineKeyVariable?: string;
  readonly publish?: boolean;
  readonly seed?: number;
  readonly set: readonly Setting[];
  readonly config?: string;
  readonly out?: string;
  readonly backend?: string;
  readonly json?: boolean;
}

export function addEval(program: Command): void {
  program
    .command('eval')
    .description('Evaluate a run, or one of its checkpoints, on held-out tasks.')
    .argument('<path>', 'a run directory (its newest checkpoint) or a checkpoint directory')
    .option('--count <n>', 'held-out tasks (default: as in the run)', wholeNumber)
    .option('--temperature <t>', 'sampling temperature (default: as in the run)', finiteNumber)
    .option(
      '--top-k <n>',
      'only the n most likely tokens; 0: all (default: as in the run)',
      wholeNumber,
    )
    .option(
      '--top-p <p>',
      'only tokens that together have p (default: as in the run)',
      finiteNumber,
    )
    .option(
      '--min-p <r>',
      'only tokens at least r as likely as the first (default: as in the run)',
      finiteNumber,
    )
    .option('--seed <n>', 'another seed of the samples (default: as in the run)', wholeNumber)
    .option('--set <field=value>', 'change a field of the run; may be repeated', addSetting, [])
    .addOption(configOption())
    .option('--backend <name>', 'what runs the kernels, e.g. native or cuda')
    .option('--out <directory>', 'metrics and trajectories (default: in the run’s evaluations/)')
    .addOption(jsonOption())
    .option('--engine <url>', 'sample with vLLM, SGLang or `saccade serve policy` at this URL')
    .option('--engine-model <name>', 'the model as the engine calls it (default: its first)')
    .option('--engine-key-variable <name>', 'environment variable with its API key')
    .option('--publish', 'give the engine the checkpoint first (default: as it is)')
    .addHelpText(
      'after',
      `
Examples:
  saccade eval runs/pyvision-image-nano-seed1
  saccade eval runs/pyvision-image-nano-seed1/checkpoints/step-000600 --temperature 0
  saccade eval runs/pyvision-image-nano-seed1 --engine http://127.0.0.1:8710

Metrics and trajectories go to <run>/evaluations/, or to --out.`,
    )
    .action((path: string, flags: EvalFlags) => run(resolve(path), flags));
}

async function run(path: string, flags: EvalFlags): Promise<void> {
  const onEvent = terminalProgress({ stream: process.stderr });
  const { isRun, runDirectory } = locate(path);
  const base = await readRunConfig(runDirectory, onEvent);
  const checkpoint = isRun
    ? findLatestCheckpoint(checkpointsOf(path), onEvent)
    : verifyCheckpoint(path);
  if (checkpoint === undefined) throw new DataError(`${path} has no valid checkpoint to evaluate.`);
  const resolved = resolveRun(
    applySettings({ ...inputOfRun(base), engine: engineOf(flags) }, settingsOf(flags)),
  );
  const { config } = resolved;
  const directory =
    flags.out === undefined
      ? join(runDirectory, 'evaluations', `step-${checkpoint.step}`)
      : resolve(flags.out);
  makeDirectories(nodeFileSystem, trajectoriesOf(directory));
  // A replay reads the options of this evaluation, not those of the run.
  writeConfig(directory, config);
  const python = (): Promise<string> => openPython(onEvent);
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

/**
 * The run that a path belongs to, and whether it is the run or one of its checkpoints.
 *
 * @throws DataError for a path that is neither
 */
function locate(path: string): { readonly isRun: boolean; readonly runDirectory: string } {
  if (!existsSync(path)) {
    throw new DataError(`There is no ${path}. Give a run or one of its checkpoints.`);
  }
  if (existsSync(join(path, 'config.json'))) return { isRun: true, runDirectory: path };
  // <run>/checkpoints/step-000600
  const isCheckpoint = basename(dirname(path)) === 'checkpoints';
  return { isRun: !isCheckpoint, runDirectory: isCheckpoint ? resolve(path, '..', '..') : path };
}

/** The fields that flags set; those of --set come last but for those with a flag of their own. */
function settingsOf(flags: EvalFlags): readonly Setting[] {
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
