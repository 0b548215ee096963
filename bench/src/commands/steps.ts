/** `npm run bench -- grpo-step`, `… shared-prefix` and `… queued-launches`: whole steps of RL. */
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { measureGrpoStep } from '../grpo-step.ts';
import { provenance } from '../machine.ts';
import { showProgress } from '../progress.ts';
import { type Comparison, measureQueuedLaunches } from '../queued-launches.ts';
import { measureSharedPrefixStep } from '../shared-prefix.ts';
import type { Sample } from '../statistics.ts';
import { formatRange, formatSeconds, threeDigits } from '../units.ts';
import { addResultOptions, parseCount, type ResultFlags, writeResult } from './shared.ts';

interface GrpoFlags extends ResultFlags {
  readonly python: string;
  readonly rounds: number;
  readonly threads: number;
}

interface PrefixFlags extends ResultFlags {
  readonly rounds: number;
  readonly prompts: number;
  readonly group: number;
  readonly threads: number;
}

interface QueueFlags extends ResultFlags {
  readonly rounds: number;
  readonly threads: number;
}

const describe = (name: string, { median, p20, p80 }: Sample): string =>
  `${name.padEnd(25)} ${formatSeconds(median)} (${formatRange(p20, p80)})`;

const describeRatio = (name: string, { median, p20, p80 }: Sample): string =>
  `${name.padEnd(25)} ${threeDigits(median)}× (${threeDigits(p20)}–${threeDigits(p80)})`;

export function addSteps(program: Command, args: readonly string[]): void {
  const threads = availableParallelism();
  const grpo = program
    .command('grpo-step')
    .description('A whole GRPO step, sampling included, in turns with TRL’s GRPOTrainer.')
    .requiredOption('--python <path>', 'an interpreter with torch, transformers, trl, datasets')
    .option('--rounds <count>', 'steps of each side after one to warm up', parseCount, 9)
    .option('--threads <count>', 'threads of both sides', parseCount, threads);
  addResultOptions(grpo).action(async (flags: GrpoFlags) => {
    const result = await measureGrpoStep({ ...flags, onRound: showProgress });
    showProgress('');
    console.log(result.what);
    console.log(describe('Saccade', result.saccade));
    console.log(describe('TRL', result.trl));
    console.log(describeRatio('TRL / Saccade', result.ratio));
    writeResult(flags, 'grpo-step', { ...provenance(args, result.peers), ...result });
  });
  const prefix = program
    .command('shared-prefix')
    .description('A training step with each group’s prompt packed once, and packed per trajectory.')
    .option('--rounds <count>', 'steps of each side after one to warm up', parseCount, 15)
    .option('--prompts <count>', 'prompts in the batch', parseCount, 16)
    .option('--group <count>', 'trajectories of each prompt', parseCount, 8)
    .option('--threads <count>', 'threads that compute', parseCount, threads);
  addResultOptions(prefix).action(async (flags: PrefixFlags) => {
    const result = await measureSharedPrefixStep({ ...flags, onRound: showProgress });
    showProgress('');
    const { tokens } = result;
    console.log(result.what);
    console.log(describe(`shared, ${tokens.shared} tk`, result.shared));
    console.log(describe(`repeated, ${tokens.repeated} tk`, result.repeated));
    console.log(describeRatio('repeated / shared', result.ratio));
    writeResult(flags, 'shared-prefix', { ...provenance(args), ...result });
  });
  const queue = program
    .command('queued-launches')
    .description('The same sampling and training with launches queued, and blocking JavaScript.')
    .option('--rounds <count>', 'rounds of each side after one to warm up', parseCount, 15)
    .option('--threads <count>', 'threads that compute', parseCount, threads);
  addResultOptions(queue).action(async (flags: QueueFlags) => {
    const result = await measureQueuedLaunches({ ...flags, onRound: showProgress });
    showProgress('');
    const show = (name: string, { queued, blocking, ratio }: Comparison): void => {
      console.log(describe(`${name}, queued`, queued));
      console.log(describe(`${name}, blocking`, blocking));
      console.log(describeRatio('queued / blocking', ratio));
    };
    show('sampling', result.sampling);
    show('training', result.training);
    show('event loop late', result.loopDelay);
    show('round trip', result.roundTrip);
    writeResult(flags, 'queued-launches', { ...provenance(args), ...result });
  });
}
