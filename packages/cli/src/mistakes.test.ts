/** Mistakes on the command line, and the exact words of each answer, in `mistakes.golden.txt`. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runHere } from './run-here.fixture.ts';

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
  writeFileSync(join(here, 'nameless.json'), '{ "processes": [{ "name": "a" }] }');
  const costs = {
    engine: {
      gpus: 1,
      decode: [
        [1, 60],
        [32, 1500],
      ],
      prefillTokensPerSecond: 20_000,
    },
    learner: { gpus: 8, secondsPerToken: 1.2e-5, parameters: 8e9 },
    rollouts: { promptTokens: 1500, turnTokens: 250, toolCalls: 2, toolSeconds: 1 },
  };
  writeFileSync(join(here, 'costs.json'), JSON.stringify(costs));
  const placement = { processes: [{ name: 'one', tools: ['image_zoom_in_tool'] }] };
  writeFileSync(join(here, 'placement.json'), JSON.stringify(placement));
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
  'cluster',
  'cluster statsu',
  'cluster status --clusters HERE/empty',
  'cluster down --clusters HERE/empty --name mine',
  'cluster submit smoke --clusters HERE/empty',
  'cluster logs worker --clusters HERE/empty',
  'cluster metrics --clusters HERE/empty',
  'cluster up HERE/none.yaml',
  'cluster up HERE/typo.json',
  'cluster up HERE/list.json',
  'cluster up HERE/broken.json',
  'serve polcy',
  'serve tools --port 99999',
  'completion tcsh',
  'train smoke --set rl.steps=',
  'train smoke --set rl=5',
  'train smoke --set model.lora.rank=-1',
  'train smoke --set optimizer=adam',
  'train smoke --set schedule=linearr',
  'train smoke --set sandbox=docker',
  'train smoke --set trackers=wandb',
  'train smoke --set verifier=maths',
  'train smoke --set coldStart=none',
  'train smoke --set engine=vllm',
  'train smoke --set evaluation.temperature=hot',
  'train smoke --set backend.threads=0',
  'train smoke --set startFrom=HERE/none',
  'train smoke --set rl.reference=HERE/none',
  'train smoke --set model=pretrained',
  'train smoke --seed 99999999999999999999',
  'train --smoke',
  'train smoke -s rl.steps=3',
  'train smoke --backend',
  'train smoke --config HERE/empty',
  'train smoke --config HERE/notes.txt',
  'train smoke --resume',
  'train smoke --resume HERE/notes.txt',
  'smoke --seed 2',
  'help trian',
  'recipes smok',
  'recipes shw smoke',
  'algorithms dapoo',
  'rewards pyvison',
  'eval HERE/none --temperature hot',
  'eval HERE/none --top-p 0.9x',
  'eval HERE/none --top-k 1.5',
  'eval HERE/none HERE/empty',
  'eval chat:model --out HERE/refused --base-url http://127.0.0.1:1',
  'eval chat:model --out HERE/refused --suite needle',
  'eval chat:model --out HERE/refused --base-url http://127.0.0.1:1 --suite nedle',
  'eval chat:model --out HERE/refused --base-url http://127.0.0.1:1 --suite HERE/nothing.mjs',
  'eval chat:model --out HERE/refused --base-url http://127.0.0.1:1 --suite needle --k 0',
  'eval chat:model --out HERE/refused --base-url http://127.0.0.1:1 --suite needle --set needle.kk=3',
  'eval chat:model --out HERE/refused --base-url http://127.0.0.1:1 --suite needle --set needle.taskSet.cells=1',
  'replay HERE/empty --step 3 --of evaluation-final',
  'errors',
  'errors HERE/empty',
  'errors HERE/empty --windows 0',
  'errors HERE/empty --judge-model m',
  'errors HERE/empty --examples E9',
  'rescore HERE/empty',
  'rescore HERE/empty --reward pyvision',
  'rescore HERE/empty --reward pyvision --set acuracy=2',
  'audit HERE/empty --set tool-spm.alarmShare=0.2',
  'audit HERE/empty --set tool-spam.alarmShar=0.2',
  'compare smoke',
  'compare smoke --vary algorithm',
  'compare smoke --vary algorithm=grpo,dapoo',
  'compare smoke --vary algoritm=grpo,dapo',
  'compare smoke --vary algorithm=grpo,grpo',
  'compare smoke --vary algorithm=grpo,dapo --from HERE/none',
  'serve policy HERE/empty',
  'serve policy HERE/empty --speaks tgi',
  'serve policy HERE/empty --host 0.0.0.0',
  'serve policy HERE/empty --kv-cache f64',
  'serve learner HERE/empty --host 0.0.0.0',
  'serve learner HERE/empty --tls-cert HERE/none.pem',
  'serve sandbox --host 0.0.0.0',
  'serve rewards --host 0.0.0.0',
  'serve env smok',
  'serve rewards --judge-url http://127.0.0.1:1',
  'serve rewards --verifier maths',
  'serve sandbox --wall-seconds 0',
  'serve tools --placement HERE/none.json',
  'serve tools --placement HERE/nameless.json',
  'serve tools --placement HERE/placement.json --tools image_zoom_in_tool',
  'serve tools --tools image_zoom_tool',
  'serve tools --host 0.0.0.0',
  'serve tools --timeout-seconds long',
  'serve mcp --set rl.steps=3 --stdio',
  'serve mcp --tools no_tool',
  'serve mcp --tools mcp',
  'serve mcp --host 0.0.0.0',
  'serve env smoke --set reward=codevision',
  'serve env smoke --host 0.0.0.0',
  'plan',
  'plan HERE/none',
  'plan HERE/empty',
  'plan --costs HERE/none.yaml',
  'plan --costs HERE/list.json',
  'plan --costs HERE/broken.json',
  'plan --costs HERE/typo.json',
  'plan --costs HERE/costs.json --gpus 0',
  'plan --costs HERE/costs.json --gpus 1,many',
  'plan --costs HERE/costs.json --gpus 1.5',
  'plan --costs HERE/costs.json --steps 0',
  'plan --costs HERE/costs.json --set publish.secnds=3',
  'plan --costs HERE/costs.json --set publish.seconds=soon',
  'plan --costs HERE/costs.json --set scheduler.name=fast',
  'plan --costs HERE/costs.json --out HERE/none/plan.html',
  'plan --costs HERE/costs.json --out HERE/empty',
  'data stats needle --out HERE/none/page.html',
  'doctor --image-size big',
  'doctor --memory -4',
  'doctor --engine http://127.0.0.1:1',
  'doctor --engine http://127.0.0.1:1 --tokens HERE/none',
  'doctor --policy smok',
  'init HERE/node_modules',
];

it('answers every mistake in words that lead on', async () => {
  const answers: string[] = [];
  for (const mistake of mistakes) {
    const words = mistake.replaceAll('HERE', here).split(' ');
    const { output, status } = await runHere(words);
    const answer = `${output}exit status ${status}\n`
      .replaceAll(here, '<here>')
      .replaceAll(resolve('.'), '<.>');
    expect(answer, mistake).not.toMatch(/^\s+at .*:\d+/m);
    expect(answer, mistake).not.toContain('exit status 0');
    answers.push(`$ saccade ${mistake.replaceAll('HERE', '<here>')}\n${answer}`);
  }
  await expect(answers.join('\n')).toMatchFileSnapshot('mistakes.golden.txt');
  expect(existsSync(join(here, 'refused'))).toBe(false);
  // The code of every command is loaded on the way.
}, 600_000);
