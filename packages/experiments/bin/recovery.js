/**
 * Measures whether examples of errors that are put right teach a policy to recover from errors.
 *
 *   node packages/experiments/bin/recovery.js RUN --out DIRECTORY
 *     [--tasks N] [--examples N] [--updates N] [--batch N] [--rate R] [--seed N]
 *
 * RUN is a run with its cold start done, such as `saccade train codevision-nano --set rl.steps=0`. A teacher
 * that reads the truth makes two sets of examples by the pipeline `codevision`: errors that are put right, and
 * as many of the other types. The policy of RUN learns from each for as many updates, on top of its cold start.
 * On held-out tasks the first tool call of every trajectory is then got wrong (`stumbling`), and counted is how
 * often the next call runs, and how often the answer is right in the end.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { coldStarts } from '@saccade/data';
import { createToolEnv } from '@saccade/gym';
import { createSupervisedLearner } from '@saccade/learner';
import { scoreGroup } from '@saccade/rewards';
import { ModelImages, runRollouts } from '@saccade/rollout';
import { openChatPlayer } from '@saccade/rollout/chat-player';
import { checkpointsOf, findLatestCheckpoint } from '@saccade/run-store';
import { ensurePython } from '@saccade/sandbox';
import { openScriptedTeacher, pipelines, stumbling, synthesize } from '@saccade/synthesis';
import {
  applySettings,
  inputOfRun,
  openBackend,
  openPlayground,
  openPolicyIn,
  readRunConfig,
  resolveRun,
  scoringPartsOf,
} from '@saccade/train';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string' },
    tasks: { type: 'string', default: '100' },
    examples: { type: 'string', default: '150' },
    updates: { type: 'string', default: '60' },
    batch: { type: 'string', default: '12' },
    rate: { type: 'string', default: '2e-4' },
    seed: { type: 'string', default: '1' },
  },
});
const [start] = positionals;
if (start === undefined || values.out === undefined) {
  throw new Error('Give a run and --out, a directory for the examples and the result.');
}
const out = resolve(values.out);
const [taskCount, exampleCount, updates, batch, seed] = [
  values.tasks,
  values.examples,
  values.updates,
  values.batch,
  values.seed,
].map(Number);
const warn = (event) => event.kind === 'warning' && console.error(event.message);

const config = await readRunConfig(resolve(start), warn);
// Without thoughts: so small a policy learns to act alone.
const run = resolveRun(applySettings(inputOfRun(config), []));
const python = async () => (await ensurePython(resolve('.cache/sandbox-venv'))).python;
const playground = await openPlayground(run, { python, onEvent: warn });
const { taskSet, protocol, sandbox } = playground;
const { verifier } = scoringPartsOf(run, out).scoring;
const device = await openBackend('native');
const weights = join(findLatestCheckpoint(checkpointsOf(resolve(start)), warn).directory, 'policy');

/** Examples of one kind, made by the pipeline. */
async function makeExamples(name, shares, first) {
  const wanted = Math.ceil(exampleCount * 2.2);
  const tasks = await Promise.all(
    Array.from({ length: wanted }, (_, i) => taskSet.task('train', first + i)),
  );
  const errs = { wrongAnswer: 0, wrongStep: 0.05, brokenCode: 0, answersEarly: 0, thinks: false };
  const server = await openScriptedTeacher({ tasks, protocol, seed, ...errs });
  const sampler = await openChatPlayer({ baseUrl: server.baseUrl, model: 'scripted' });
  const made = await synthesize(
    pipelines.get('codevision'),
    { ...shares, maxTargetShare: 0.005 },
    {
      ...{ tasks, verifier, directory: join(out, name), seed, concurrency: 16, temperature: 1 },
      teacher: {
        sampler,
        protocol,
        envOf: (own) => () => createToolEnv({ protocol: own, sandbox }),
      },
      ...{ maxTurnTokens: 2048, maxContextTokens: 32_768, onEvent: warn },
    },
  );
  await server.close();
  return made.trajectories;
}

/** The policy of the run after so many updates on some examples. */
async function trained(path) {
  const policy = await openPolicyIn(weights, device, warn);
  if (path === undefined) return policy;
  const given = coldStarts.get('given');
  const images = new ModelImages(policy.processor);
  const settings = given.settings.parse({ path, examples: exampleCount, batchSize: batch });
  const mixtures = await given.gather(settings, {
    ...{ taskSet, protocol, makeEnv: playground.makeEnv, images, processor: policy.processor },
    ...{ seed, concurrency: 1, onEvent: warn },
  });
  const schedule = (update) => Number(values.rate) * Math.min(1, (update + 1) / 5);
  const packing = { sharedPrefix: true, microBatchTokens: 8192 };
  const learner = createSupervisedLearner({ policy, images, schedule, seed, ...packing });
  let last;
  for (let update = 0; update < updates; update++) last = await learner.learn(mixtures, update);
  console.error(`${mixtures[0].examples.length} examples, ${updates} updates, loss ${last?.loss}`);
  return policy;
}

/** Recovery and accuracy on held-out tasks, with and without a stumble. */
async function measure(policy) {
  const tasks = await Promise.all(
    Array.from({ length: taskCount }, (_, i) => taskSet.task('heldOut', i)),
  );
  const { maxTurnTokens, maxContextTokens } = run.config.rollout;
  const play = async (sampler) => {
    const { groups } = await runRollouts(sampler, playground.makeEvaluationEnv, tasks, {
      ...{ groupSize: 1, seed, stream: 'recovery', temperature: 1, concurrency: 64 },
      ...{ maxTokensPerTurn: maxTurnTokens, maxContextTokens, sharedPrefix: false },
    });
    const terms = [];
    return groups.flatMap(
      (group, i) => scoreGroup(group, tasks[i], { verifier, terms }).scored.trajectories,
    );
  };
  const plain = await play(policy);
  const stumbled = (await play(stumbling(policy, protocol, seed))).filter(
    ({ turns: [first] }) => first?.result !== undefined && first.result.kind !== 'ok',
  );
  const share = (list, is) => (list.length === 0 ? 0 : list.filter(is).length / list.length);
  return {
    accuracy: share(plain, ({ isCorrect }) => isCorrect),
    stumbles: stumbled.length,
    nextCallRuns: share(stumbled, ({ turns: [, next] }) => next?.result?.kind === 'ok'),
    rightInTheEnd: share(stumbled, ({ isCorrect }) => isCorrect),
    recovered: share(
      stumbled,
      ({ turns: [, next], isCorrect }) => next?.result?.kind === 'ok' && isCorrect,
    ),
  };
}

mkdirSync(out, { recursive: true });
const none = { single: 0, multi: 0, multiCrop: 0, errorHandling: 0, noTool: 0 };
const sets = {
  'cold start': undefined,
  'and other types': await makeExamples(
    'others',
    { ...none, single: 0.4, multi: 0.4, noTool: 0.2 },
    500_000,
  ),
  'and errors put right': await makeExamples('errors', { ...none, errorHandling: 1 }, 600_000),
};
const result = {};
for (const [name, path] of Object.entries(sets)) {
  const policy = await trained(path);
  result[name] = await measure(policy);
  policy.dispose();
  console.log(name, JSON.stringify(result[name]));
}
writeFileSync(join(out, 'recovery.json'), `${JSON.stringify(result, null, 2)}\n`);
device.dispose();
await playground.dispose();
