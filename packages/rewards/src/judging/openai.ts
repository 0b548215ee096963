/** A model behind an OpenAI-compatible server that grades answers and tool use. */
import { join } from 'node:path';
import { openAiChat } from '@saccade/chat';
import { ConfigError } from '@saccade/core';
import { count, flag, optionalText, quantity, text } from '@saccade/core/settings';
import { z } from 'zod';
import { askWith } from '../ask-judge.ts';
import { fileCache } from '../file-cache.ts';
import { type Judge, judgeLimits } from '../judge.ts';
import { answerJudge } from '../judges/answer-judge.ts';
import { consistencyJudge } from '../judges/consistency-judge.ts';
import { cropJudge } from '../judges/crop-judge.ts';
import { errorJudge } from '../judges/error-judge.ts';
import { faithfulnessJudge } from '../judges/faithfulness-judge.ts';
import { processJudge } from '../judges/process-judge.ts';
import { defineJudging } from './judging-unit.ts';

export const openai = defineJudging({
  name: 'openai',
  description: 'A model behind an OpenAI-compatible chat API grades answers, crops and reasoning.',
  settings: z.strictObject({
    baseUrl: text({
      default: 'http://127.0.0.1:8000/v1',
      unit: 'URL',
      about: 'Address of the server, up to /v1.',
    }),
    model: text({
      default: 'judge',
      unit: 'name',
      about: 'The model that judges, as the server calls it.',
    }),
    keyVariable: optionalText({
      unit: 'name',
      about: 'Environment variable with the server’s API key; unset: no key.',
    }),
    judgesAnswers: flag({
      default: false,
      about: 'Whether it also grades answers that the verifier refuses.',
    }),
    judgesErrors: flag({
      default: false,
      about:
        'Whether it also says why answers are wrong where no rule can tell (errors/E4 to errors/E6).',
    }),
    maxConcurrent: count({
      min: 1,
      max: 4096,
      default: 16,
      unit: 'requests',
      about: 'Requests in flight at a time.',
    }),
    timeoutSeconds: quantity({
      min: 0.1,
      max: 3600,
      default: 60,
      unit: 'seconds',
      about: 'Time limit of one request.',
    }),
    retries: count({
      min: 0,
      max: 100,
      default: 3,
      unit: 'retries',
      about: 'Retries before the judge has failed; then the trajectory has no reward.',
    }),
    maxTokens: count({
      min: 1,
      max: 100_000,
      default: 512,
      unit: 'tokens',
      about: 'Longest reply of the judge.',
    }),
    temperature: quantity({
      min: 0,
      max: 10,
      default: 0,
      unit: 'ratio',
      about: 'Sampling temperature of the judge; at 0 a grade is a fact, not a draw.',
    }),
    unreadableReplies: count({
      min: 1,
      max: 100,
      default: 2,
      unit: 'replies',
      about: 'Replies without a grade before the judge has failed.',
    }),
    firstPauseSeconds: quantity({
      min: 0,
      max: 3600,
      default: 0.5,
      unit: 'seconds',
      about: 'Pause before the first retry; it doubles from one to the next.',
    }),
    longestPauseSeconds: quantity({
      min: 0,
      max: 3600,
      default: 30,
      unit: 'seconds',
      about: 'Longest pause between two tries.',
    }),
    textCharacters: count({
      min: 100,
      max: 10_000_000,
      default: judgeLimits.textCharacters,
      unit: 'characters',
      about: 'Longer texts lose their middle before the judge sees them.',
    }),
    thoughtCharacters: count({
      min: 1,
      max: 10_000_000,
      default: judgeLimits.thoughtCharacters,
      unit: 'characters',
      about: 'End of a thought that is compared with the answer.',
    }),
    shownImages: count({
      min: 1,
      max: 1000,
      default: judgeLimits.images,
      unit: 'images',
      about: 'Images of a trajectory that its process is graded by, the first ones.',
    }),
  }),
  open(settings, { directory, secret }) {
    const { baseUrl, model, keyVariable, maxConcurrent, retries, timeoutSeconds } = settings;
    const { maxTokens, temperature, unreadableReplies } = settings;
    const { textCharacters, thoughtCharacters, shownImages: images } = settings;
    const limits = { textCharacters, thoughtCharacters, images };
    if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
      throw new ConfigError(
        'judge.baseUrl',
        `judge.baseUrl: expected an address like http://127.0.0.1:8000/v1, got "${baseUrl}".`,
      );
    }
    const apiKey = keyVariable && secret('judge.keyVariable', keyVariable);
    const { firstPauseSeconds, longestPauseSeconds } = settings;
    const chat = openAiChat({
      ...{ baseUrl, model, maxConcurrent, retries, timeoutSeconds },
      ...{ firstPauseSeconds, longestPauseSeconds },
      ...(apiKey && { apiKey }),
    });
    const cache = fileCache(join(directory, 'grades.jsonl'));
    const ask = <Input>(asked: Judge<Input>) =>
      askWith(asked, chat, { cache, maxTokens, temperature, unreadableReplies, limits });
    return {
      ...(settings.judgesAnswers && { answer: ask(answerJudge) }),
      crop: ask(cropJudge),
      process: ask(processJudge),
      consistency: ask(consistencyJudge),
      ...(settings.judgesErrors && { errors: ask(errorJudge) }),
      faithfulness: ask(faithfulnessJudge),
    };
  },
});
