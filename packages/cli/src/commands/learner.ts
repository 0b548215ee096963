/** The options of `saccade learner`. */
import type { LearnerCheckFlags, LearnerMeasureFlags } from '../learner.ts';
import { wholeNumber } from '../shared.ts';
import { addBackendOption } from './backend-option.ts';
import type { LazyCommand } from './lazy-command.ts';

export function addLearner(program: LazyCommand): void {
  const learner = program
    .command('learner')
    .description('Measure and check servers that train: the Tinker protocol.');
  const checking = addCommon(
    learner
      .command('check')
      .description('Run the conformance suite against a server, ours or anyone’s.')
      .argument('<url>', 'its address, without /api/v1'),
  ).option('--against', 'compare with the weights of --from on local kernels, number by number');
  addBackendOption(checking, 'for --against: ')
    .addHelpText(
      'after',
      `
Models are made for it and unloaded after it. The exit status is 1 if a check failed.

Examples:
  saccade serve learner runs/mine --expose-gradients
  saccade learner check http://127.0.0.1:8760 --from runs/mine/checkpoints/step-000016/policy --against
  saccade learner check http://gpu:8000 --from hf:Qwen/Qwen2.5-VL-3B-Instruct --lora-rank 16`,
    )
    .action(async (url: string, flags: LearnerCheckFlags) =>
      (await import('../learner.ts')).checkLearner(url, flags),
    );
  addCommon(
    learner
      .command('measure')
      .description('Say what a server’s numbers mean, and what can be trained there.')
      .argument('<url>', 'its address, without /api/v1'),
  )
    .option('--no-images', 'the run has none: do not ask whether the server sees them')
    .addHelpText(
      'after',
      `
A run with model=remote does the same before it begins.

Examples:
  saccade learner measure http://127.0.0.1:8000 --from hf:Qwen/Qwen3-VL-4B-Instruct --lora-rank 8`,
    )
    .action(async (url: string, flags: LearnerMeasureFlags) =>
      (await import('../learner.ts')).measureLearner(url, flags),
    );
}

function addCommon(command: LazyCommand): LazyCommand {
  return command
    .requiredOption('--from <path>', 'tokenizer and processor of the base: a directory, or hf:…')
    .option('--base <name>', 'the base as the server calls it (default: the first it has)')
    .option(
      '--lora-rank <n>',
      'train an adapter of this rank (default: whole weights)',
      wholeNumber,
    )
    .option('--key-variable <name>', 'environment variable with the API key')
    .option('--json', 'print JSON');
}
