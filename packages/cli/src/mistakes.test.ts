/** Mistakes on the command line, and the exact words of each answer, in `mistakes.golden.txt`. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { main } from './main.ts';

/** A folder without runs, which every mistake sees as `here`. */
let here: string;
beforeAll(() => {
  here = mkdtempSync(join(tmpdir(), 'saccade-mistakes-'));
  mkdirSync(join(here, 'empty'));
  mkdirSync(join(here, 'full'));
  writeFileSync(join(here, 'full', 'notes.txt'), 'mine');
  writeFileSync(join(here, 'notes.txt'), 'not a run');
  writeFileSync(join(here, 'list.json'), '[1, 2]');
  writeFileSync(join(here, 'typo.json'), '{ "rl": { "stepz": 3 } }');
  writeFileSync(join(here, 'broken.json'), '{ "rl": ');
  writeFileSync(join(here, 'nothing.mjs'), 'export const answer = 42;\n');
});
afterAll(() => rmSync(here, { recursive: true, force: true }));

const mistakes = [
  'trian',
  'rain smoke',
  '--vresion',
  'train --stpes 3',
  'train --steps three',
  'train --steps -1',
  'train --steps 2.5',
  'train --seed',
  'train --seed x',
  'train smok',
  'train smoke extra',
  'train ./no-such-recipe.ts',
  'train HERE/nothing.mjs',
  'train smoke --set',
  'train smoke --set rl.steps',
  'train smoke --set =3',
  'train smoke --set rl.stepz=3',
  'train smoke --set rl.steps=many',
  'train smoke --set rl.steps=-3',
  'train smoke --set steps=1 --set rl.groupSize=0',
  'train smoke --set algorithm=dapoo',
  'train smoke --set algorithm.clipLow=-1',
  'train smoke --set algorithm.klip=1',
  'train smoke --set taskSet=./tasks.jsonl',
  'train smoke --set taskSet=nedle',
  'train smoke --set reward=pyvison',
  'train smoke --set rl.reward=./x.ts',
  'train smoke --set model=Qwen2.5-VL-7B',
  'train smoke --set protocol=codeact',
  'train smoke --set scheduler=fast',
  'train smoke --set name=x',
  'train smoke --backend gpu',
  'train smoke --config HERE/none.json',
  'train smoke --config HERE/list.json',
  'train smoke --config HERE/typo.json',
  'train smoke --config HERE/broken.json',
  'train --resume HERE/empty',
  'train --resume HERE/none',
  'train --resume HERE/empty --set rl.steps=3',
  'train smoke --out HERE/notes.txt',
  'eval',
  'eval HERE/none',
  'eval HERE/empty',
  'eval HERE/notes.txt',
  'eval HERE/empty --temperature hot',
  'report HERE/none',
  'report HERE/empty',
  'report HERE/notes.txt',
  'curves HERE/empty',
  'curves HERE/empty HERE/none --label one',
  'audit HERE/none',
  'audit HERE/empty --set tool-spam',
  'errors HERE/none',
  'replay HERE/none',
  'rescore HERE/none',
  'recipes show smok',
  'rewards show pyvison',
  'algorithms show grpoo',
  'experiment reward-shapping',
  'compare smoke --algorithms dapoo',
  'init',
  'init HERE/Bad_Name',
  'init HERE/full',
  'serve polcy',
  'serve tools --port 99999',
  'completion tcsh',
];

/** What a command prints to the error stream, and its exit status. */
async function answerTo(words: readonly string[]): Promise<string> {
  const said: string[] = [];
  const write = (text: unknown) => {
    said.push(String(text));
    return true;
  };
  const before = process.exitCode;
  const spies = [
    vi.spyOn(process.stderr, 'write').mockImplementation(write),
    vi.spyOn(console, 'error').mockImplementation((...all) => write(`${all.join(' ')}\n`)),
    vi.spyOn(console, 'log').mockImplementation((...all) => write(`${all.join(' ')}\n`)),
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw new Error(`exit ${code}`);
    }),
  ];
  try {
    process.exitCode = undefined;
    await main(['node', 'saccade', ...words]);
    return `${said.join('')}exit status ${process.exitCode ?? 0}\n`;
  } finally {
    process.exitCode = before;
    for (const spy of spies) spy.mockRestore();
  }
}

it('answers every mistake in words that lead on', async () => {
  const answers: string[] = [];
  for (const mistake of mistakes) {
    const words = mistake.replaceAll('HERE', here).split(' ');
    const answer = (await answerTo(words))
      .replaceAll(here, '<here>')
      .replaceAll(resolve('.'), '<.>');
    expect(answer, mistake).not.toMatch(/^\s+at .*:\d+/m);
    expect(answer, mistake).not.toContain('exit status 0');
    answers.push(`$ saccade ${mistake.replaceAll('HERE', '<here>')}\n${answer}`);
  }
  await expect(answers.join('\n')).toMatchFileSnapshot('mistakes.golden.txt');
}, 60_000);
