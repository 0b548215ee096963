/** The options of `saccade synthesize`. */
import { Argument } from 'commander';
import { wholeNumber } from '../shared.ts';
import type { SynthesizeFlags } from '../synthesize.ts';
import type { LazyCommand } from './lazy-command.ts';
import { addSetting } from './options.ts';

export function addSynthesize(program: LazyCommand): void {
  const pipeline = new Argument('<pipeline>');
  program
    .command('synthesize')
    .description('Make training data: a teacher plays tasks, and a pipeline keeps what is good.')
    .addArgument(pipeline)
    .option('--recipe <name>', 'whose task set, protocol and sandbox', 'codevision-nano')
    .option('--set <field=value>', 'change a field of the recipe; may be repeated', addSetting, [])
    .option(
      '--with <field=value>',
      'change a setting of the pipeline; may be repeated',
      addSetting,
      [],
    )
    .option('--teacher-url <url>', 'OpenAI-compatible server of the teacher, up to /v1')
    .option('--teacher-model <name>', 'the teacher as the server calls it')
    .option('--teacher-key-variable <name>', 'environment variable with its API key')
    .option('--teacher <run>', 'a run or checkpoint as teacher, or `scripted`: reads the truth')
    .option('--judge-url <url>', 'server of a model that validates, cleans and writes thoughts')
    .option('--judge-model <name>', 'that model (default: the teacher’s)')
    .option('--judge-key-variable <name>', 'environment variable with its API key')
    .option('--weak <run>', 'a run or checkpoint whose pass rate says how hard a task is')
    .option('--backend <name>', 'what runs the kernels of a checkpoint', 'native')
    .option('--count <n>', 'tasks of the training split', wholeNumber, 100)
    .option('--first <n>', 'index of the first one', wholeNumber, 0)
    .option('--samples <n>', 'trajectories of a task (the setting samples)', wholeNumber)
    .option('--temperature <t>', 'sampling temperature', Number, 1)
    .option('--turn-tokens <n>', 'most tokens of a turn', wholeNumber)
    .option('--context-tokens <n>', 'most tokens of a conversation', wholeNumber)
    .option('--concurrency <n>', 'conversations at a time', wholeNumber, 16)
    .option('--requests-per-minute <n>', 'what the server allows', Number)
    .option('--tokens-per-minute <n>', 'what the server allows', Number)
    .option('--prompt-price <p>', 'price of 10⁶ tokens of prompts', Number, 0)
    .option('--completion-price <p>', 'price of 10⁶ tokens of replies', Number, 0)
    .option('--max-cost <c>', 'stop before more is spent', Number)
    .option('--cache <directory>', 'where replies are kept (default: replies/ of --out)')
    .requiredOption('--out <directory>', 'where the data go')
    .addLazyHelp(async () => (await import('../synthesize.ts')).synthesizeHelp())
    .before('help', async () => {
      const { pipelines } = await import('@saccade/synthesis');
      pipeline.description = `one of ${pipelines.names.join(', ')}`;
    })
    .action(async (name: string, flags: SynthesizeFlags) =>
      (await import('../synthesize.ts')).synthesizeData(name, flags),
    );
}
