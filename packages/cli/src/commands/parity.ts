/** The options of `saccade parity`. */
import { InvalidArgumentError, Option } from 'commander';
import type { ParityFlags } from '../parity.ts';
import { more, wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption } from './options.ts';

export function addParity(program: LazyCommand): void {
  program
    .command('parity')
    .description(
      'Compare a checkpoint with transformers: ids, pixels, positions, every layer, log-probs, ' +
        'gradients, greedy tokens.',
    )
    .requiredOption('--policy <checkpoint>', 'a directory, or hf:owner/name@revision of a hub')
    .option('--reference <directory>', 'another checkpoint for transformers (default: the same)')
    .option('--python <path>', 'a Python with torch and transformers', 'python3')
    .option('--image <file>', 'an image of the conversation; repeat for several', more)
    .option(
      '--prompt <text>',
      'the text of the conversation',
      'Which digit is hidden in the image?',
    )
    .addOption(
      new Option('--dtype <type>', 'element type of weights and activations')
        .choices(['f32', 'bf16'])
        .default('f32'),
    )
    .option('--backend <name>', 'backend of ours: native, reference, webgpu, cuda', 'native')
    .option('--gate <number>', 'largest relative difference (default: 1e-4, for bf16 5e-2)', gate)
    .option('--no-gradients', 'leave the gradients out: they take twice the weights’ memory more')
    .option('--greedy <count>', 'greedy tokens to compare', wholeNumber, 32)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
The Python needs: pip install torch transformers safetensors pillow numpy jinja2 torchvision
Ends with status 1 if a part differs, and names the first: what comes after it may only follow from it.

Examples:
  saccade parity --policy path/to/Qwen2.5-VL-3B-Instruct --python venv/bin/python
  saccade parity --policy hf:Qwen/Qwen3-VL-4B-Instruct --image photo.jpg --no-gradients
  saccade parity --policy runs/mine/checkpoints/step-40/policy --reference path/to/base`,
    )
    .action(async (flags: ParityFlags) =>
      (await import('../parity.ts')).compareWithTransformers(flags),
    );
}

/** A positive number. */
function gate(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError(`Expected a number above 0, got "${text}".`);
}
