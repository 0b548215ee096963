import { expect, it } from 'vitest';
import { codeBlocks, saccadeCommands } from './check-documents.mjs';

it('reads code blocks with their language, mode and line', () => {
  const text = 'A\n\n```ts run\nconst a = 1;\n```\n\n- b\n  ~~~sh\n  saccade train\n  ~~~\n';
  expect(codeBlocks(text)).toEqual([
    { language: 'ts', mode: 'run', line: 4, text: 'const a = 1;' },
    { language: 'sh', mode: 'check', line: 9, text: 'saccade train' },
  ]);
});

it('finds saccade commands behind prompts, npx, variables and line breaks', () => {
  const text = [
    '$ npx saccade train smoke \\',
    '    --set "algorithm=dapo"   # another one',
    'A=1 saccade doctor && saccade recipes',
    'npm run train -- --seed 2',
    'node saccade.js',
  ].join('\n');
  expect(saccadeCommands(text)).toEqual([
    ['train', 'smoke', '--set', 'algorithm=dapo'],
    ['doctor'],
    ['recipes'],
    ['train', '--seed', '2'],
  ]);
});

it('takes separators within quotes for text', () => {
  const text = 'saccade train --set "a.b=c;d=e,f" && npx saccade doctor; saccade recipes | head';
  expect(saccadeCommands(text)).toEqual([
    ['train', '--set', 'a.b=c;d=e,f'],
    ['doctor'],
    ['recipes'],
  ]);
});
