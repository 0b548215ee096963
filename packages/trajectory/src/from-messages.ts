/** A trajectory from chat messages, for rewards, audits and reports on what other trainers sampled. */
import { DataError, messageOf } from '@saccade/core';
import { TrajectoryBuilder } from './builder.ts';
import { messageImages } from './message-images.ts';
import { type Message, type MessageToolCall, messageText } from './messages.ts';
import {
  type Action,
  isToolUse,
  type StopReason,
  type ToolResult,
  type Trajectory,
  type TrajectoryImage,
} from './trajectory.ts';

/** Options of `trajectoryFromMessages`; all have defaults. */
export interface FromMessagesOptions {
  /** Default `task`. */
  readonly taskId?: string;
  /** Index within its group. Default 0. */
  readonly sampleIndex?: number;
  /** Default `<taskId>/<sampleIndex>`. */
  readonly id?: string;
  /** How many of the first messages are the prompt. Default: those before the first assistant's. */
  readonly promptMessages?: number;
  /**
   * Reads an assistant's text without `tool_calls`, e.g. `protocols.get('pyvision-image').parse` of
   * `@saccade/gym`. Default: the last one is the answer, and an earlier one is invalid.
   */
  readonly parse?: (text: string) => Action;
  /** Token ids of a text. Default: its UTF-8 bytes, which rewards that count tokens refuse. */
  readonly encode?: (text: string) => ArrayLike<number>;
  /** Default, by the last turn: `answered`, `invalidAction`, or `turnLimit` if it used a tool. */
  readonly stopReason?: Exclude<StopReason, 'answered' | 'failed'>;
}

/** A message and its index, which names it in errors. */
interface Placed {
  readonly message: Message;
  readonly index: number;
}

/** One turn of the model and what came back, before it is in the ledger. */
interface Exchange {
  readonly text: string;
  readonly action: Action;
  /** The messages that answer it; none if it is the last. */
  readonly answers: readonly Placed[];
}

/**
 * The record of a conversation that somebody else rolled out.
 *
 * Each assistant message is a turn, or one turn per call if it has several; what follows until the
 * next one is its observation. The tokens are written anew from the text, one for each image, and
 * log-probs are zeros; `tokenSource` says so, and nothing trains on it. What is trained on is
 * recorded while it is sampled: see `@saccade/rollout`.
 *
 * @throws DataError naming the message, if the messages are no such conversation
 */
export function trajectoryFromMessages(
  messages: readonly Message[],
  options: FromMessagesOptions = {},
): Trajectory {
  const { taskId = 'task', sampleIndex = 0, encode = encodeBytes } = options;
  const { id = `${taskId}/${sampleIndex}` } = options;
  const tokenSource = options.encode === undefined ? 'bytes' : 'encoded';
  const placed = messages.map((message, index) => ({ message, index }));
  const promptEnd = promptLength(messages, options.promptMessages);
  const builder = new TrajectoryBuilder({ id, taskId, sampleIndex, tokenSource });
  let imageCount = 0;
  const given = (some: readonly Placed[]) => {
    const images = some.flatMap(({ message, index }) => {
      const own = messageImages(message, imageCount, `messages[${index}]`);
      imageCount += own.length;
      return own;
    });
    const text = some.map(({ message }) => messageText(message)).join('\n');
    return { tokens: tokensOf(text, encode, images.length), images, text };
  };
  builder.prompt(given(placed.slice(0, promptEnd)));
  let last: Action | undefined;
  for (const { text, action, answers } of exchangesOf(placed.slice(promptEnd), options)) {
    const tokens = tokensOf(text, encode);
    builder.model({ tokens, logprobs: new Float32Array(tokens.length), text, policyVersion: 0 });
    const observed = answers.length > 0 ? given(answers) : undefined;
    const used = observed !== undefined && isToolUse(action);
    builder.turn(action, used ? resultOf(answers, observed) : undefined);
    if (observed !== undefined) builder.observation(observed);
    last = action;
  }
  return builder.finish(options.stopReason ?? reasonOf(last));
}

function promptLength(messages: readonly Message[], asked: number | undefined): number {
  const first = messages.findIndex(({ role }) => role === 'assistant');
  const length = asked ?? first;
  if (first < 0 || messages[length]?.role !== 'assistant') {
    throw new DataError(
      `messages[${Math.max(length, 0)}] must be the assistant's, after a prompt of at least one message; ` +
        `the roles are ${messages.map(({ role }) => role).join(', ') || 'none'}.`,
    );
  }
  if (length > 0) return length;
  throw new DataError("messages[0] is the assistant's. Put the question before it.");
}

function exchangesOf(placed: readonly Placed[], options: FromMessagesOptions): readonly Exchange[] {
  const exchanges: Exchange[] = [];
  for (let at = 0; at < placed.length; ) {
    const { message, index } = placed[at] as Placed;
    let end = at + 1;
    while (end < placed.length && placed[end]?.message.role !== 'assistant') end++;
    const answers = placed.slice(at + 1, end);
    const isLast = end === placed.length;
    if (answers.length === 0 && !isLast) {
      throw new DataError(`messages[${index}] and the next are both the assistant's. Join them.`);
    }
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) {
      const text = messageText(message);
      exchanges.push({ text, action: actionOf(text, isLast, options), answers });
    } else {
      exchanges.push(...callExchanges(message, calls, answers, `messages[${index}]`));
    }
    at = end;
  }
  return exchanges;
}

function actionOf(text: string, isLast: boolean, { parse }: FromMessagesOptions): Action {
  if (parse !== undefined) return parse(text);
  return isLast ? { kind: 'answer', answer: text.trim() } : { kind: 'invalid', reason: 'noCall' };
}

/** One exchange per call. What answers no call by its id goes to the last one. */
function callExchanges(
  message: Message,
  calls: readonly MessageToolCall[],
  answers: readonly Placed[],
  where: string,
): readonly Exchange[] {
  const tools = answers.filter(({ message: { role } }) => role === 'tool');
  const rest = answers.filter(({ message: { role } }) => role !== 'tool');
  const exchanges = calls.map((call, index): Exchange => {
    const isAnswer = ({ message: { tool_call_id: id } }: Placed, at: number) =>
      id === undefined || call.id === undefined ? at === index : id === call.id;
    const own = tools.filter(isAnswer);
    const isLast = index === calls.length - 1;
    if (own.length === 0 && (!isLast || answers.length > 0)) {
      throw new DataError(
        `${where}: no tool message answers call ${index}. Add one for each call.`,
      );
    }
    const { name } = call.function;
    const action: Action = { kind: 'toolCall', name, arguments: argumentsOf(call, where) };
    const json = JSON.stringify({ name, arguments: action.arguments });
    const said = index === 0 ? messageText(message) : '';
    const text = [said, `<tool_call>\n${json}\n</tool_call>`]
      .filter((part) => part !== '')
      .join('\n');
    return { text, action, answers: isLast ? [...own, ...rest] : own };
  });
  const answered = exchanges.reduce((sum, exchange) => sum + exchange.answers.length, 0);
  if (answered === answers.length) return exchanges;
  throw new DataError(
    `${where}: a tool message after it answers none of its ${calls.length} calls.`,
  );
}

function argumentsOf(call: MessageToolCall, where: string): Readonly<Record<string, unknown>> {
  const given = call.function.arguments;
  const { name } = call.function;
  let read: unknown = given;
  try {
    if (typeof given === 'string') read = JSON.parse(given);
  } catch (cause) {
    throw new DataError(`${where}: the arguments of ${name} are not JSON: ${messageOf(cause)}`, {
      cause,
    });
  }
  if (typeof read === 'object' && read !== null && !Array.isArray(read)) {
    return read as Readonly<Record<string, unknown>>;
  }
  throw new DataError(`${where}: the arguments of ${name} must be an object.`);
}

function resultOf(
  answers: readonly Placed[],
  observed: { readonly text: string; readonly images: readonly TrajectoryImage[] },
): ToolResult {
  const told = answers.find(({ message }) => message.result !== undefined)?.message.result;
  const imageCount = observed.images.length;
  return { kind: 'ok', stdout: observed.text, stderr: '', imageCount, wallMs: 0, ...told };
}

function reasonOf(last: Action | undefined): Exclude<StopReason, 'failed'> {
  if (last?.kind === 'answer') return 'answered';
  return last?.kind === 'invalid' ? 'invalidAction' : 'turnLimit';
}

const encodeBytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A segment has at least one token, also where it has no text. */
function tokensOf(
  text: string,
  encode: (text: string) => ArrayLike<number>,
  imageCount = 0,
): Int32Array {
  const ids = encode(text);
  const tokens = new Int32Array(Math.max(1, imageCount + ids.length));
  tokens.set(ids, imageCount);
  return tokens;
}
