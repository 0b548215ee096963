/** The judges of a run: a model behind an OpenAI-compatible server that grades answers and tool use. */
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import {
  answerJudge,
  askWith,
  consistencyJudge,
  cropJudge,
  type GroupJudges,
  type Judge,
  openAiChat,
  processJudge,
  steadyChat,
} from '@saccade/rewards';
import { fileCache } from '@saccade/rewards/file-cache';
import type { JudgeConfig } from './config.ts';

export function hasJudge({ baseUrl }: JudgeConfig): boolean {
  return baseUrl !== 'none';
}

/** @throws ConfigError for a judge of which half is missing */
export function checkJudge(judge: JudgeConfig): void {
  const { baseUrl, model, keyVariable } = judge;
  if (!hasJudge(judge)) return;
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new ConfigError(
      'rl.judge.baseUrl',
      `rl.judge.baseUrl: expected an address like http://127.0.0.1:8000/v1, got "${baseUrl}".`,
    );
  }
  if (model === 'none') {
    throw new ConfigError(
      'rl.judge.model',
      `rl.judge.model: ${baseUrl} needs the name of a model. Set rl.judge.model.`,
    );
  }
  if (keyVariable !== 'none' && process.env[keyVariable] === undefined) {
    throw new ConfigError(
      'rl.judge.keyVariable',
      `rl.judge.keyVariable: the environment has no ${keyVariable}. Set it to the API key.`,
    );
  }
}

/**
 * The judges of a configuration; undefined if it has none. Grades are kept in the run's
 * `grades.jsonl`, so that a run that is resumed asks nothing twice.
 */
export function openJudges(judge: JudgeConfig, directory: string): GroupJudges | undefined {
  if (!hasJudge(judge)) return undefined;
  const { baseUrl, model, keyVariable, maxConcurrent, timeoutSeconds, retries, maxTokens } = judge;
  const apiKey = keyVariable === 'none' ? undefined : process.env[keyVariable];
  const chat = steadyChat(openAiChat({ baseUrl, model, ...(apiKey !== undefined && { apiKey }) }), {
    maxConcurrent,
    retries,
    timeoutMs: 1000 * timeoutSeconds,
  });
  const cache = fileCache(join(directory, 'grades.jsonl'));
  const ask = <Input>(asked: Judge<Input>) => askWith(asked, chat, { cache, maxTokens });
  return {
    ...(judge.judgesAnswers && { answer: ask(answerJudge) }),
    crop: ask(cropJudge),
    process: ask(processJudge),
    consistency: ask(consistencyJudge),
  };
}
