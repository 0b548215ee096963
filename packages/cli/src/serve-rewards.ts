/** `saccade serve rewards`: rewards of other trainers' models. */
import { ConfigError } from '@saccade/core';
import { type AnswerInput, type Ask, answerJudge, askWith, openAiChat } from '@saccade/rewards';
import { fileCache } from '@saccade/rewards/file-cache';
import { openRewardService, openScoreAnswer } from '@saccade/rewards/serve';
import { type ListenFlags, listen } from './listen.ts';

export interface ServeRewardsFlags extends ListenFlags {
  readonly verifier: string;
  readonly judgeUrl?: string;
  readonly judgeModel?: string;
  readonly judgeKeyVariable: string;
  readonly judgeCache?: string;
  readonly judgeConcurrency: number;
}

export async function serveRewards(flags: ServeRewardsFlags): Promise<void> {
  const ask = openJudge(flags);
  const score = openScoreAnswer({ verifier: flags.verifier, ...(ask && { ask }) });
  const about = { verifier: flags.verifier, judge: flags.judgeModel ?? 'none' };
  await listen(
    flags,
    (listening) => openRewardService({ score, about, ...listening }),
    ({ url }) => `Rewards at ${url} (${flags.verifier})`,
  );
}

function openJudge(flags: ServeRewardsFlags): Ask<AnswerInput> | undefined {
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
