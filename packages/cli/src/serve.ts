/** `saccade serve`: its services; this file has the rewards of other trainers' models. */
import { ConfigError } from '@saccade/core';
import {
  type AnswerInput,
  type Ask,
  answerJudge,
  askWith,
  openAiChat,
  verifiers,
} from '@saccade/rewards';
import { fileCache } from '@saccade/rewards/file-cache';
import { openRewardService, openScoreAnswer } from '@saccade/rewards/serve';
import type { Command } from 'commander';
import { addListenOptions, type ListenFlags, listen } from './listen.ts';
import { addServeEnv } from './serve-env.ts';
import { addServeLearner } from './serve-learner.ts';
import { addServeMcp } from './serve-mcp.ts';
import { addServePolicy } from './serve-policy.ts';
import { addServeSandbox } from './serve-sandbox.ts';
import { addServeTools } from './serve-tools.ts';
import { wholeNumber } from './shared.ts';

interface ServeFlags extends ListenFlags {
  readonly verifier: string;
  readonly judgeUrl?: string;
  readonly judgeModel?: string;
  readonly judgeKeyVariable: string;
  readonly judgeCache?: string;
  readonly judgeConcurrency: number;
}

export function addServe(program: Command): void {
  const serve = program.command('serve').description('Serve a part of Saccade over HTTP.');
  addServePolicy(serve);
  addServeLearner(serve);
  addServeSandbox(serve);
  addServeTools(serve);
  addServeMcp(serve);
  addServeEnv(serve);
  const rewards = serve
    .command('rewards')
    .description('Score responses for OpenRLHF, slime, TRL, verl and others.');
  addListenOptions(rewards, { port: 8700, tokenVariable: 'SACCADE_REWARDS_TOKEN' })
    .option('--verifier <name>', `one of ${verifiers.names.join(', ')}`, 'math')
    .option('--judge-url <url>', 'OpenAI-compatible server for answers that the rules refuse')
    .option('--judge-model <name>', 'its model')
    .option(
      '--judge-key-variable <name>',
      'environment variable that holds its key',
      'SACCADE_JUDGE_KEY',
    )
    .option('--judge-cache <file>', 'file that remembers grades (JSON Lines)')
    .option('--judge-concurrency <n>', 'calls of the judge at a time', wholeNumber, 16)
    .addHelpText(
      'after',
      `
Endpoints:
  POST /score      {"items":[{"response","expected","question"?,"verifier"?,"options"?}]}
  POST /openrlhf   OpenRLHF --remote_rm_url
  POST /slime      slime --rm-type remote_rm --rm-url
  GET  /health

Examples:
  saccade serve rewards
  saccade serve rewards --judge-url http://127.0.0.1:8000/v1 --judge-model Qwen2.5-72B-Instruct`,
    )
    .action((flags: ServeFlags) => run(flags));
}

async function run(flags: ServeFlags): Promise<void> {
  const ask = openJudge(flags);
  const score = openScoreAnswer({ verifier: flags.verifier, ...(ask && { ask }) });
  const about = { verifier: flags.verifier, judge: flags.judgeModel ?? 'none' };
  await listen(
    flags,
    (listening) => openRewardService({ score, about, ...listening }),
    ({ url }) => `Rewards at ${url} (${flags.verifier})`,
  );
}

function openJudge(flags: ServeFlags): Ask<AnswerInput> | undefined {
  const { judgeUrl, judgeModel, judgeCache } = flags;
  if (judgeUrl === undefined && judgeModel === undefined) return undefined;
  if (judgeUrl === undefined || judgeModel === undefined) {
    throw new ConfigError('judge', 'A judge needs --judge-url and --judge-model; one is missing.');
  }
  const apiKey = process.env[flags.judgeKeyVariable];
  const chat = openAiChat({
    baseUrl: judgeUrl,
    model: judgeModel,
    maxConcurrent: flags.judgeConcurrency,
    ...(apiKey !== undefined && { apiKey }),
  });
  return askWith(answerJudge, chat, {
    ...(judgeCache !== undefined && { cache: fileCache(judgeCache) }),
  });
}
