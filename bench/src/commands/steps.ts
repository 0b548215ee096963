/** `npm run bench -- grpo-step`, `… shared-prefix` and `… queued-launches`: whole steps of RL. */
import { availableParallelism } from 'node:os';
import { type Command, Option } from 'commander';
import { type GrpoStepResult, measureGrpoStep } from '../grpo-step.ts';
import { provenance } from '../machine.ts';
import { showProgress } from '../progress.ts';
import {
  type Comparison,
  measureQueuedLaunches,
  type QueuedLaunchesResult,
} from '../queued-launches.ts';
import { runMeasurement } from '../run-measurement.ts';
import { measureSharedPrefixStep, type SharedPrefixStep } from '../shared-prefix.ts';
import type { Ratio, Sample } from '../statistics.ts';
import { type PolicySize, PROMPTS, policySizes } from '../text-policy.ts';
import { formatRange, formatRatio, formatSeconds, noteOfUndecided, threeDigits } from '../units.ts';
import { addResultOptions, parseCount, type ResultFlags } from './shared.ts';

interface GrpoFlags extends ResultFlags {
  readonly python: string;
  readonly size: PolicySize;
  readonly prompts: number;
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

const describeRatio = (name: string, ratio: Ratio): string =>
  `${name.padEnd(25)} ${formatRatio(ratio)} (${threeDigits(ratio.p20)}–${threeDigits(ratio.p80)})`;

const print = (...lines: readonly string[]): void => {
  for (const line of lines) console.log(line);
};

export function addSteps(program: Command, args: readonly string[]): void {
  const threads = availableParallelism();
  const grpo = program
    .command('grpo-step')
    .description('A whole GRPO step, sampling included, in turns with TRL’s GRPOTrainer.')
    .requiredOption('--python <path>', 'an interpreter with torch, transformers, trl, datasets')
    .addOption(
      new Option('--size <parameters>', 'of the decoder, about')
        .choices(Object.keys(policySizes))
        .default('1m'),
    )
    .option('--prompts <count>', 'of a step, each with 8 rollouts', parseCount, PROMPTS)
    .option('--rounds <count>', 'steps of each side after one to warm up', parseCount, 9)
    .option('--threads <count>', 'threads of both sides', parseCount, threads);
  addResultOptions(grpo).action((flags: GrpoFlags) =>
    runMeasurement<GrpoStepResult>(flags, {
      kind: 'grpo-step',
      measure: (signal, keep) => measureGrpoStep({ ...flags, onRound: showProgress, signal, keep }),
      show: (result) =>
        print(
          result.what,
          describe('Saccade', result.saccade),
          describe('TRL', result.trl),
          describeRatio('TRL / Saccade', result.ratio),
          ...noteOfUndecided([result.ratio]),
        ),
      record: (result) => ({ ...provenance(args, result.peers), ...result }),
    }),
  );
  const prefix = program
    .command('shared-prefix')
    .description('A training step with each group’s prompt packed once, and packed per trajectory.')
    .option('--rounds <count>', 'steps of each side after one to warm up', parseCount, 15)
    .option('--prompts <count>', 'prompts in the batch', parseCount, 16)
    .option('--group <count>', 'trajectories of each prompt', parseCount, 8)
    .option('--threads <count>', 'threads that compute', parseCount, threads);
  addResultOptions(prefix).action((flags: PrefixFlags) =>
    runMeasurement<SharedPrefixStep>(flags, {
      kind: 'shared-prefix',
      measure: (signal, keep) =>
        measureSharedPrefixStep({ ...flags, onRound: showProgress, signal, keep }),
      show: (result) =>
        print(
          result.what,
          describe(`shared, ${result.tokens.shared} tk`, result.shared),
          describe(`repeated, ${result.tokens.repeated} tk`, result.repeated),
          describeRatio('repeated / shared', result.ratio),
          ...noteOfUndecided([result.ratio]),
        ),
      record: (result) => ({ ...provenance(args), ...result }),
    }),
  );
  const queue = program
    .command('queued-launches')
    .description('The same sampling and training with launches queued, and blocking JavaScript.')
    .option('--rounds <count>', 'rounds of each side after one to warm up', parseCount, 15)
    .option('--threads <count>', 'threads that compute', parseCount, threads);
  const compared = (name: string, { queued, blocking, ratio }: Comparison): readonly string[] => [
    describe(`${name}, queued`, queued),
    describe(`${name}, blocking`, blocking),
    describeRatio('queued / blocking', ratio),
  ];
  addResultOptions(queue).action((flags: QueueFlags) =>
    runMeasurement<QueuedLaunchesResult>(flags, {
      kind: 'queued-launches',
      measure: (signal, keep) =>
        measureQueuedLaunches({ ...flags, onRound: showProgress, signal, keep }),
      show: ({ sampling, training, loopDelay, roundTrip }) =>
        print(
          ...compared('sampling', sampling),
          ...compared('training', training),
          ...compared('event loop late', loopDelay),
          ...compared('round trip', roundTrip),
          ...noteOfUndecided([sampling, training, loopDelay, roundTrip].map(({ ratio }) => ratio)),
        ),
      record: (result) => ({ ...provenance(args), ...result }),
    }),
  );
}
