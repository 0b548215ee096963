/** Settings of a client, for commands and configurations. */
import {
  choice,
  count,
  flag,
  optionalQuantity,
  optionalText,
  quantity,
  type SettingsOf,
  text,
} from '@saccade/core/settings';
import { z } from 'zod';

/** Where a chat server is, what it allows, and what it costs. */
export const chatSettings = z.strictObject({
  baseUrl: text({
    default: 'http://127.0.0.1:8000/v1',
    unit: 'URL',
    about: 'Address of the server, up to /v1.',
  }),
  model: text({ default: 'default', unit: 'name', about: 'The model, as the server calls it.' }),
  keyVariable: optionalText({
    unit: 'name',
    about: 'Environment variable with the server’s API key; unset: no key.',
  }),
  timeoutSeconds: quantity({
    min: 0.05,
    max: 86_400,
    default: 300,
    unit: 'seconds',
    about: 'Time limit of one try.',
  }),
  idleSeconds: quantity({
    min: 0.05,
    max: 86_400,
    default: 120,
    unit: 'seconds',
    about: 'Longest silence within a streamed reply; then it is asked again.',
  }),
  retries: count({
    min: 0,
    max: 1000,
    default: 5,
    unit: 'retries',
    about: 'Retries of a request that may succeed later.',
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
    max: 86_400,
    default: 60,
    unit: 'seconds',
    about: 'Longest pause between two tries, also where the server asks for more.',
  }),
  maxConcurrent: count({
    min: 1,
    max: 4096,
    default: 16,
    unit: 'requests',
    about: 'Requests in flight at a time.',
  }),
  requestsPerMinute: optionalQuantity({
    min: 0.01,
    max: 1e9,
    unit: 'requests per minute',
    about: 'Requests that the server allows in a minute; unset: any number.',
  }),
  tokensPerMinute: optionalQuantity({
    min: 1,
    max: 1e12,
    unit: 'tokens per minute',
    about: 'Tokens of prompts and replies that the server allows in a minute; unset: any number.',
  }),
  promptPrice: quantity({
    min: 0,
    max: 1e9,
    default: 0,
    unit: 'currency per 10⁶ tokens',
    about: 'Price of the tokens of prompts.',
  }),
  completionPrice: quantity({
    min: 0,
    max: 1e9,
    default: 0,
    unit: 'currency per 10⁶ tokens',
    about: 'Price of the tokens of replies.',
  }),
  maxCost: optionalQuantity({
    min: 0,
    max: 1e12,
    unit: 'currency',
    about: 'Nothing more is sent once so much was spent; unset: no limit.',
  }),
  maxTokensField: choice(['max_tokens', 'max_completion_tokens'], {
    default: 'max_tokens',
    about: 'How the server calls the longest reply; OpenAI’s reasoning models know the second.',
  }),
  streams: flag({
    default: true,
    about: 'Whether replies are streamed, so that a silent server is noticed early.',
  }),
  imageTokens: count({
    min: 0,
    max: 1_000_000,
    default: 1000,
    unit: 'tokens',
    about: 'Tokens of an image, for rate limits and for servers that do not count.',
  }),
});

/** The values of `chatSettings`, with defaults filled in. */
export type ChatSettings = SettingsOf<typeof chatSettings>;
