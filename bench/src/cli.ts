/** The command line of the benchmarks: one program, a subcommand for each kind. */
import { ConfigError, messageOf, nearestName, SaccadeError } from '@saccade/core';
import { Command } from 'commander';
import { addClient } from './commands/client.ts';
import { addDecode } from './commands/decode.ts';
import { addMemory } from './commands/memory.ts';
import { addOps } from './commands/ops.ts';
import { addSandbox } from './commands/sandbox.ts';
import { addScaling } from './commands/scaling.ts';
import { addStep } from './commands/step.ts';
import { addSteps } from './commands/steps.ts';
import { addTable } from './commands/table.ts';

/** @param args  after the program's name */
export async function main(args: readonly string[]): Promise<void> {
  const program = new Command('npm run bench --')
    .description('Measures Saccade on this machine, alone and in turns with other libraries.')
    .showHelpAfterError('(--help says more)')
    .addHelpText(
      'after',
      `
Without a command it is ops, whose options are in: npm run bench -- ops --help

How fast is every op here?         npm run bench
Did my change make gemm faster?    npm run bench -- --filter gemm --json before.json
                                   npm run bench -- --filter gemm --baseline before.json
How does it compare with PyTorch?  npm run bench -- table --peers --python path/to/python
And in JavaScript, on WebGPU?      npm run bench -- --backend webgpu --peers
Where does a training step go?     npm run bench -- step --html step.html
What does a longer answer cost?    npm run bench -- scaling --svg scaling.svg

bench/README.md says what the numbers mean.`,
    );
  addOps(program, args);
  addTable(program, args);
  addScaling(program, args);
  addSandbox(program, args);
  addStep(program, args);
  addSteps(program, args);
  addMemory(program, args);
  addDecode(program, args);
  addClient(program, args);
  try {
    expectCommand(program, args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // An error that users can fix is printed as a sentence; any other is a bug and shows its stack.
    if (!(error instanceof SaccadeError)) throw error;
    console.error(messageOf(error));
    process.exitCode = 1;
  }
}

/**
 * The first word has to name a command: commander would take it for an argument of the default one.
 *
 * @throws ConfigError with the nearest one
 */
function expectCommand(program: Command, [word]: readonly string[]): void {
  const known = [...program.commands.map((command) => command.name()), 'help'];
  if (word === undefined || word.startsWith('-') || known.includes(word)) return;
  const near = nearestName(word, known);
  const remedy = near === undefined ? `Known: ${known.join(', ')}.` : `Did you mean ${near}?`;
  throw new ConfigError('command', `There is no command "${word}". ${remedy}`);
}
