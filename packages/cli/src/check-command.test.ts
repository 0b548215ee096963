import { expect, it } from 'vitest';
import { checkCommand } from './check-command.ts';

it('takes commands that there are, with their flags, recipes and settings', async () => {
  const commands = [
    ['doctor'],
    ['recipes'],
    ['train', 'smoke', '--set', 'algorithm=dapo', '--steps', '2'],
    ['train', './my-recipe.ts', '--seed', '2'],
    ['train', '--help'],
  ];
  for (const words of commands) {
    expect(await checkCommand(words), words.join(' ')).toBeUndefined();
  }
});

it.each([
  [['tarin'], /unknown command/],
  [['train', '--stpes', '2'], /unknown option/],
  [['train', 'no-such-recipe'], /no-such-recipe/],
  [['train', 'smoke', '--set', 'rl.algorithm=dapo'], /rl\.algorithm/],
  [['train', 'smoke', '--set', 'algorithm=no-such'], /no-such/],
])('names what is wrong with %j', async (words, problem) => {
  expect(await checkCommand(words)).toMatch(problem);
});
