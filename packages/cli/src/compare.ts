/** `saccade compare`: one field, several values, one cold start; a table and an image. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError, type EventSink } from '@saccade/core';
import { compare, planComparison } from '@saccade/experiments';
import { comparisonTable, drawComparison, MOST_RUNS } from '@saccade/report';
import { applySettings, type Setting } from '@saccade/train';
import type { Command } from 'commander';
import { listenForInterruption } from './interruption.ts';
import { addSetting, findRecipe } from './recipe-arguments.ts';
import { INTERRUPTED, openPython, wholeNumber } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

interface CompareFlags {
  readonly vary: string;
  readonly from?: string;
  readonly out: string;
  readonly set: readonly Setting[];
  readonly seed?: number;
  readonly steps?: number;
}

export function addCompare(program: Command): void {
  program
    .command('compare')
    .description('Train once for each value of a field, from one cold start; table and image.')
    .argument('[recipe]', 'what to train; see `saccade recipes`', 'pyvision-image-nano')
    .requiredOption('--vary <field=values>', 'the field and its values, separated by commas')
    .option('--from <directory>', 'a run whose cold start all take over (default: make one)')
    .option('--out <directory>', 'the runs, table.md and curves.svg', 'runs/compare')
    .option('--set <field=value>', 'change a field for all; may be repeated', addSetting, [])
    .option('--seed <n>', 'seed of every random stream', wholeNumber)
    .option('--steps <n>', 'reinforcement-learning steps of each run', wholeNumber)
    .addHelpText(
      'after',
      `
Examples:
  saccade compare --steps 30 --vary algorithm=grpo,dapo,gspo,rloo,ppo
  saccade compare --steps 30 --vary reward.accumulative-tool=0,0.1 --from runs/pyvision-image-nano-seed1

All runs see the same tasks in the same order. Called again, it continues where it stopped.`,
    )
    .action((recipe: string, flags: CompareFlags) => run(recipe, flags));
}

async function run(name: string, flags: CompareFlags): Promise<void> {
  const { input, source } = await findRecipe(name);
  const settings: Setting[] = [...flags.set];
  if (flags.seed !== undefined) settings.push({ path: 'seed', value: flags.seed });
  if (flags.steps !== undefined) settings.push({ path: 'rl.steps', value: flags.steps });
  const directory = resolve(flags.out);
  const plan = planComparison({
    vary: flags.vary,
    base: applySettings(input, settings),
    directory,
    ...(flags.from !== undefined && { from: resolve(flags.from) }),
  });
  if (plan.variants.length > MOST_RUNS) {
    throw new ConfigError(
      'vary',
      `An image holds at most ${MOST_RUNS} runs, got ${plan.variants.length}. Make several.`,
    );
  }
  // Each run has clocks of its own: what is left of one says nothing about the next.
  let progress = terminalProgress({ stream: process.stderr });
  const onEvent: EventSink = (event) => progress(event);
  const python = (): Promise<string> => openPython(onEvent);
  const interruption = listenForInterruption(onEvent);
  try {
    const runs = await compare(plan, {
      python,
      ...(source && { source }),
      onEvent,
      isStopRequested: interruption.isRequested,
      onRun: (label, index, count) => {
        console.error(index === 0 ? '\nCold start' : `\n${index}/${count} ${label}`);
        progress = terminalProgress({ stream: process.stderr });
      },
    });
    if (runs.length < plan.variants.length) {
      console.log('Stopped with a checkpoint. Call the same command to continue.');
      process.exitCode = INTERRUPTED;
      return;
    }
    const table = comparisonTable(runs);
    const image = join(directory, 'curves.svg');
    writeFileSync(join(directory, 'table.md'), `${table}\n`);
    writeFileSync(image, drawComparison(runs));
    console.log(`${table}\n\nCurves: ${image}`);
  } finally {
    interruption.dispose();
  }
}
