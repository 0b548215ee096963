/** Mistakes in the flags of `saccade synthesize` are told before anything is opened. */
import { describe, expect, it } from 'vitest';
import { openProgram } from './program.ts';

async function said(...flags: readonly string[]): Promise<string> {
  const words = ['synthesize', ...flags, '--out', '/nowhere'];
  const program = await openProgram(words);
  return await program
    .configureOutput({ writeErr: () => {} })
    .parseAsync(words, { from: 'user' })
    .then(
      () => 'nothing',
      (error: Error) => error.message,
    );
}

describe('saccade synthesize', () => {
  it('tells one clear error for each mistake', async () => {
    const url = ['--teacher-url', 'http://127.0.0.1:9/v1'];
    const cases: [readonly string[], RegExp][] = [
      [['pyvison', '--teacher', 'scripted'], /no pipeline "pyvison".*pyvision/],
      [['pyvision'], /either --teacher-url .* or --teacher/],
      [['pyvision', ...url, '--teacher', 'scripted'], /either --teacher-url/],
      [['pyvision', ...url], /--teacher-model: expected/],
      [['pyvision', '--teacher', 'scripted', '--judge-url', 'http://x/v1'], /--judge-model/],
      [['pyvision', '--teacher', 'scripted', '--max-cost', 'ten'], /--max-cost: expected a number/],
      [['pyvision', '--teacher', 'scripted', '--with', 'leastTurns=2'], /leastToolTurns/],
      [['codedance', '--teacher', 'scripted', '--with', 'easyRate=2'], /with.easyRate: expected/],
      [['vista', '--teacher', 'scripted', '--samples', '0'], /with.samples: expected/],
      [['pyvision', '--teacher', 'scripted', '--recipe', 'none'], /recipe "none"/],
    ];
    for (const [flags, words] of cases) expect(await said(...flags)).toMatch(words);
  });
});
