/** The options of `saccade doctor`. */
import { InvalidArgumentError } from 'commander';
import type { DoctorFlags } from '../doctor.ts';
import { aboveZero, more } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { configOption, jsonOption } from './options.ts';

export function addDoctor(program: LazyCommand): void {
  program
    .command('doctor')
    .description('Show what this machine can run, and why the rest is unusable.')
    .option('--engine <url>', 'ask an engine for rollouts what it can, instead of the machine')
    .option('--tokens <directory>', 'a policy whose tokenizer the engine serves, for --engine')
    .option('--engine-key-variable <name>', 'environment variable with its API key')
    .addOption(jsonOption())
    .option(
      '--policy <recipe>',
      'the memory that the policy of a recipe takes, or a checkpoint (a directory, hf:owner/name), ' +
        'before it is loaded',
    )
    .option('--set <field=value>', 'for --policy: change a field of the recipe', more)
    .addOption(configOption())
    .option('--image-size <width>x<height>', 'for --policy: size of images', imageSize, {
      width: 1024,
      height: 1024,
    })
    .option(
      '--memory <GiB>',
      'for --policy: memory of another machine (default: this one)',
      aboveZero,
    )
    .addHelpText(
      'after',
      `
Examples:
  saccade doctor
  saccade doctor --engine http://127.0.0.1:8000 --tokens path/to/Qwen2.5-VL-3B-Instruct
  saccade doctor --policy hf:Qwen/Qwen2.5-VL-3B-Instruct --set model.lora.rank=16 --memory 24
  saccade doctor --policy pyvision-image-nano --set rollout.concurrency=64`,
    )
    .action(async (flags: DoctorFlags) => (await import('../doctor.ts')).examine(flags));
}

/** `1024x768` */
function imageSize(text: string): DoctorFlags['imageSize'] {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(text) ?? [];
  if (Number(width) > 0 && Number(height) > 0) {
    return { width: Number(width), height: Number(height) };
  }
  throw new InvalidArgumentError(`Expected a size such as 1024x768, got "${text}".`);
}
