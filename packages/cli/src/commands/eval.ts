/** The options of `saccade eval`. */
import type { Prices } from '@saccade/eval';
import { InvalidArgumentError, Option } from 'commander';
import type { EvalFlags } from '../eval.ts';
import { finiteNumber, more, wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { addSetting, configOption, jsonOption } from './options.ts';

export function addEval(program: LazyCommand): void {
  program
    .command('eval')
    .description('Evaluate a run or one of its checkpoints: on held-out tasks, or on suites.')
    .argument('<model>', 'a run (its newest checkpoint), a checkpoint, or chat:<model>')
    .option('--suite <names>', 'suites with commas between them, or a file of them', more)
    .option('--k <n>', 'samples of each task of a suite (default: as the suite)', wholeNumber)
    .option('--count <n>', 'tasks (default: as in the run, or the suite)', wholeNumber)
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
    .addOption(
      new Option('--mode <mode>', 'what the model may do before it answers').choices([
        'direct',
        'reasoning',
        'tools',
        'both',
      ]),
    )
    .option('--protocol <name>', 'how the model talks to its tools, in place of its own')
    .option('--against <directory>', 'compare with another evaluation, task by task')
    .option('--dry-run', 'say what would be drawn and what it may cost, and draw nothing')
    .option('--price <read,written>', 'price of a million tokens, for the estimate', pricesOf)
    .option('--engine <url>', 'sample with vLLM, SGLang or `saccade serve policy` at this URL')
    .option('--engine-model <name>', 'the model as the engine calls it (default: its first)')
    .option('--engine-key-variable <name>', 'environment variable with its API key')
    .option('--publish', 'give the engine the checkpoint first (default: as it is)')
    .addLazyHelp(
      async () => `
Examples:
  saccade eval runs/pyvision-image-nano-seed1
  saccade eval runs/pyvision-image-nano-seed1/checkpoints/step-000600 --temperature 0
  saccade eval runs/pyvision-image-nano-seed1 --engine http://127.0.0.1:8710

  saccade eval runs/mine --suite needle,charts --k 8 --out evaluations/mine
  saccade eval runs/mine --suite orientation:documents --count 50
  saccade eval runs/mine --suite ./my-suites.ts --set my-suite.taskSet.hardest=2
  saccade eval runs/mine --suite needle --out evaluations/mine --against evaluations/before
  saccade eval chat:small-vlm --base-url http://127.0.0.1:8000/v1 --suite charts --mode direct

Metrics and trajectories go to <run>/evaluations/, or to --out. With --suite the directory holds every
sample: the same command continues after an interruption, draws nothing twice, and adds suites or raises
--k. A suite's own settings are --set <suite>.<field>=value.

${(await import('../eval.ts')).suiteHelp()}`,
    )
    .option('--base-url <url>', 'address of the chat server, up to /v1, for chat:<model>')
    .option('--key-variable <name>', 'environment variable with its API key')
    .action(async (model: string, flags: EvalFlags) =>
      (await import('../eval.ts')).evaluateModel(model, flags),
    );
}

/** Reads `--price 0.5,1.5`. @throws InvalidArgumentError for anything else */
function pricesOf(text: string): Prices {
  const [read, written, ...rest] = text.split(',').map(Number);
  const isPrice = (value: number | undefined): value is number =>
    value !== undefined && Number.isFinite(value) && value >= 0;
  if (isPrice(read) && isPrice(written) && rest.length === 0) {
    return { perMillionRead: read, perMillionWritten: written };
  }
  throw new InvalidArgumentError(
    `Expected two prices of a million tokens, read and written, like 0.5,1.5; got "${text}".`,
  );
}
