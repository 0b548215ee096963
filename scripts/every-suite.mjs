/**
 * Evaluates checkpoints of a run and a scripted chat model on suites, each twice: left alone, and killed with
 * SIGKILL and started again. Fails unless both give the same bytes.
 *
 *   node scripts/every-suite.mjs RUN [--steps 680,720] [--suite generated] [--count 3] [--k 1] [--kills 2]
 *     [--out every-suite] [--set FIELD=VALUE ...]
 *
 * Without `--steps` the first and the last checkpoint of the run are taken. The chat model looks once or not at
 * all and answers by chance: it shows that a suite can be played, not how hard it is.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openScriptedServer, sentText } from '../packages/chat/dist/scripted-server.js';
import { randomAt } from '../packages/core/dist/index.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    steps: { type: 'string' },
    suite: { type: 'string', default: 'generated' },
    count: { type: 'string', default: '3' },
    k: { type: 'string', default: '1' },
    kills: { type: 'string', default: '2' },
    out: { type: 'string', default: 'every-suite' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const [run] = positionals;
if (run === undefined) throw new Error('Give the directory of a run.');
const saccade = join(import.meta.dirname, 'saccade.mjs');
const given = ['--suite', values.suite, '--count', values.count, '--k', values.k];
for (const set of values.set) given.push('--set', set);
mkdirSync(values.out, { recursive: true });

const answers = ['0', '1', '2', '3', '7', 'A', 'B', 'C', '12.5', 'yes'];
const look = 'plt.imshow(image_clue_0.crop((0, 0, 99, 99)))\nplt.show()';
const zoom = { tool: 'image_zoom_in_tool', task: 'look', arguments: { bbox_2d: [0, 0, 99, 99] } };

function reply(request) {
  const random = randomAt(request.seed ?? 0, 'scripted');
  const text = sentText(request);
  const hasLooked = text.includes('```output') || text.includes('<interpreter>');
  if (!hasLooked && random.uniform() < 0.5) {
    if (text.includes('<code>')) return { say: `<code>\n\`\`\`python\n${look}\n\`\`\`\n</code>` };
    return { say: `<think>look</think><tool_call>${JSON.stringify(zoom)}</tool_call>` };
  }
  return { say: `<think>so</think><answer>${answers[random.integer(10)]}</answer>` };
}

function start(args, out) {
  const log = `${out}.log`;
  const child = spawn(process.execPath, [saccade, 'eval', ...args, ...given, '--out', out], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  const ended = new Promise((resolve) => {
    child.on('close', (code, signal) => {
      writeFileSync(log, said);
      resolve(signal ?? code);
    });
  });
  return { ended, kill: () => process.kill(-child.pid, 'SIGKILL'), log };
}

/** Bytes of all files that samples are appended to. */
function written(folder) {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? written(path) : statSync(path).size);
  }, 0);
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function evaluateTwice(name, args) {
  const [whole, killed] = ['whole', 'killed'].map((kind) => join(values.out, `${name}-${kind}`));
  const started = performance.now();
  await finish(start(args, whole));
  const seconds = (performance.now() - started) / 1000;
  const bytes = written(join(whole, 'samples'));
  const kills = Number(values.kills);
  for (let kill = 1; kill <= kills; kill++) {
    const evaluation = start(args, killed);
    let isEnded = false;
    evaluation.ended.then(() => (isEnded = true));
    while (!isEnded && written(join(killed, 'samples')) < (bytes * kill) / (kills + 1))
      await pause(50);
    if (isEnded) throw new Error(`${name} ended before it was killed; see ${evaluation.log}.`);
    evaluation.kill();
    await evaluation.ended;
  }
  await finish(start(args, killed));
  const [first, second] = [whole, killed].map((folder) =>
    readFileSync(join(folder, 'results.json')),
  );
  const isSame = first.equals(second);
  console.log(
    `${name}: ${seconds.toFixed(0)} s; killed ${kills} times, ${isSame ? 'the same bytes' : 'OTHER RESULTS'}`,
  );
  if (!isSame) process.exitCode = 1;
  return JSON.parse(first);
}

async function finish({ ended, log }) {
  const status = await ended;
  if (status !== 0) throw new Error(`saccade eval ended with ${status}; see ${log}.`);
}

const checkpoints = readdirSync(join(run, 'checkpoints')).sort();
const steps = values.steps?.split(',').map((step) => `step-${step.padStart(6, '0')}`);
const chosen = steps ?? [...new Set([checkpoints.at(0), checkpoints.at(-1)])];
const server = await openScriptedServer(reply, { keepsRequests: false });
const results = {};
for (const step of chosen)
  results[step] = await evaluateTwice(step, [join(run, 'checkpoints', step)]);
results.chat = await evaluateTwice('chat', ['chat:scripted', '--base-url', server.baseUrl]);
await server.close();
const [names] = Object.values(results).map(({ suites }) => Object.keys(suites));
const score = ({ suites }, name) => {
  const { samples, metrics } = suites[name];
  return `${(100 * metrics[`avg@${values.k}`]).toFixed(1)} of ${samples}`;
};
console.log(`\n| suite | ${Object.keys(results).join(' | ')} |`);
console.log(`| --- |${' --- |'.repeat(Object.keys(results).length)}`);
for (const name of names) {
  console.log(
    `| ${name} | ${Object.values(results)
      .map((each) => score(each, name))
      .join(' | ')} |`,
  );
}
writeFileSync(join(values.out, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
