/** The options of `saccade plan`. */
import type { PlanFlags } from '../plan.ts';
import { wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { addSetting, jsonOption } from './options.ts';

export function addPlan(program: LazyCommand): void {
  program
    .command('plan')
    .description('Simulate a cluster from measured costs: steps per hour, bottleneck, staleness.')
    .argument('[run]', 'a run whose costs and rollouts are taken')
    .option('--costs <file>', 'costs in YAML or JSON; over those of the run, if there is one')
    .option('--gpus <numbers>', 'sizes to plan for, separated by commas', '1,8,64')
    .option('--set <cost=value>', 'change a cost; may be repeated', addSetting, [])
    .option(
      '--steps <n>',
      'steps to simulate, after a quarter more that fill queues',
      wholeNumber,
      12,
    )
    .option('--seed <n>', 'seed of the simulation', wholeNumber, 1)
    .option('--backend <name>', 'what measures the engine of a run', 'native')
    .option(
      '--engine <url>',
      'a server such as `saccade serve policy`, which is given the run’s weights: what requests and publishing cost',
    )
    .option('--out <page.html>', 'write a page with curves and assumptions')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Of a run come: what its rollouts are like, turn by turn, with the times of their tools; how long learning
took; its scheduler. The speed of its engine is measured here, with its newest checkpoint, unless --costs says
engine. Costs of another machine are a file:

  engine:
    gpus: 1
    decode: [[1, 60], [32, 1500], [128, 4200]]   # sequences at a time, tokens per second
    prefillTokensPerSecond: 20000
  learner:
    gpus: 8
    secondsPerToken: 1.2e-5                      # on those 8 GPUs
    parameters: 8e9
  publish: { seconds: 4 }
  scheduler: { name: asynchronous, maxStaleness: 1, promptsPerStep: 128 }
  rollouts: { promptTokens: 1500, turnTokens: 250, toolCalls: 2, toolSeconds: 1 }

Examples:
  saccade plan runs/mine --gpus 8,64,512 --out plan.html
  saccade plan --costs costs.yaml --gpus 64,512 --set publish.seconds=10
  saccade plan runs/mine --costs h100.yaml --set scheduler.name=asynchronous --json`,
    )
    .action(async (run: string | undefined, flags: PlanFlags) =>
      (await import('../plan.ts')).plan(run, flags),
    );
}
