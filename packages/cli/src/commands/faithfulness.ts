/** The options of `saccade faithfulness`. */
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { FaithfulnessFlags } from '../faithfulness.ts';
import { more } from '../shared.ts';
import { addJudgeFlags } from './judge-options.ts';
import type { LazyCommand } from './lazy-command.ts';

export function addFaithfulness(program: LazyCommand): void {
  const command = program
    .command('faithfulness')
    .description('Measure whether tools showed what was asked about, apart from accuracy.')
    .argument('<directories...>', 'runs or evaluations that keep trajectories')
    .option(
      '--of <file>',
      'a file of trajectories/ without .jsonl, or a suite; may be repeated (default: evaluations)',
      more,
    )
    .option('--crop-iou <x>', 'IoU with the box from which on a crop shows it', iouNumber);
  addJudgeFlags(command, 'ask the model behind this chat API of every image (default: boxes)')
    .option('--json', 'print JSON instead of tables')
    .addHelpText('after', help)
    .action(async (directories: readonly string[], flags: FaithfulnessFlags) =>
      (await import('../faithfulness.ts')).measureFaithfulness(
        directories.map((directory) => resolve(directory)),
        flags,
      ),
    );
}

const help = `
Examples:
  saccade faithfulness runs/pyvision-image-nano-seed1
  saccade faithfulness runs/outcome runs/evidence --of evaluation-final
  saccade faithfulness evaluations/rl --of needle
  saccade faithfulness runs/mine --judge http://127.0.0.1:8000/v1 --judge-model judge
  saccade faithfulness runs/mine --json | jq '.runs[0].sets[0].faithfulness'

CodeV (arXiv:2511.19661) divides by three numbers. Of all: right with evidence, of all trajectories
(algorithm 1, table 5). Of right: with evidence, of the right ones (figure 2). Classes: with evidence,
with tools alone, without a tool (figure 5). Buckets are figure 8: share and accuracy by tool calls.

Without --judge a crop is evidence by its overlap with the task's box, and tasks without a box are
left out. With --judge the model is asked of every image that a tool gave, yes or no; kappa is its
agreement with boxes. What it says is kept in <directory>/faithfulness/grades.jsonl. Evaluations keep
their first trajectories; --set evaluation.keepTrajectories=200 keeps all.`;

/** @throws InvalidArgumentError for what is no number above 0, at most 1 */
function iouNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && value <= 1) return value;
  throw new InvalidArgumentError(`Expected a number above 0 and at most 1, got "${text}".`);
}
