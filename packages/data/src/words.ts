/** A conversation in the words of a protocol. */
import { DataError } from '@saccade/core';
import type { MessagePart as GymPart, Protocol } from '@saccade/gym';
import type { Action, Message, MessagePart, ToolResult } from '@saccade/trajectory';
import { type DialogSample, RowRefused } from './formats/format.ts';
import { partsOf } from './formats/image-marks.ts';
import { callAction } from './formats/trajectory-messages.ts';

/** One model turn and what answered it, ready to be encoded. */
export interface WordedTurn {
  readonly text: string;
  readonly action: Action;
  readonly result?: ToolResult;
  /** The observation; absent after the last turn. */
  readonly observation?: readonly GymPart[];
}

/** A conversation in a protocol's words. */
export interface WordedDialog {
  readonly system?: string;
  readonly prompt: readonly GymPart[];
  readonly turns: readonly WordedTurn[];
}

/** How a conversation is rewritten. */
export interface WordsOptions {
  readonly protocol: Protocol;
  /** The protocol that its texts are written in. Default: `protocol`, or calls as fields. */
  readonly from?: Pick<Protocol, 'name' | 'parse'>;
}

/**
 * Rewrites a conversation by `protocol.write`, `observe` and, where the question is known, `prompt`.
 * What is already in the protocol's words stays as it is, character by character.
 *
 * @throws RowRefused for a turn that the protocol cannot express or read
 */
export function inWordsOf(sample: DialogSample, options: WordsOptions): WordedDialog {
  const { messages } = sample;
  const first = messages.findIndex(({ role }) => role === 'assistant');
  if (first < 1) throw new RowRefused('it must begin with a prompt, and then the assistant’s turn');
  const names = new ImageNames();
  const { system, prompt } = promptOf(sample, messages.slice(0, first), names, options);
  const turns: WordedTurn[] = [];
  for (let at = first; at < messages.length; ) {
    const message = messages[at] as Message;
    let end = at + 1;
    while (end < messages.length && messages[end]?.role !== 'assistant') end++;
    const answers = messages.slice(at + 1, end);
    const turn = turnOf(message, at, options);
    if (answers.length === 0) {
      if (end < messages.length) {
        throw new RowRefused(`messages ${at} and ${at + 1} are both the assistant’s`);
      }
      turns.push({ text: turn.text, action: turn.action });
    } else turns.push(answeredTurn(turn, answers, names, options));
    at = end;
  }
  return { ...(system !== undefined && { system }), prompt, turns };
}

function promptOf(
  { tags = {}, id }: DialogSample,
  messages: readonly Message[],
  names: ImageNames,
  { protocol, from }: WordsOptions,
): { readonly system?: string; readonly prompt: readonly GymPart[] } {
  const isSystem = ({ role }: Message): boolean => role === 'system' || role === 'developer';
  const system = messages.filter(isSystem).map((message) => textOf(partsOf(message)));
  const parts = messages.filter((message) => !isSystem(message)).flatMap(partsOf);
  const isOther = from !== undefined && from.name !== protocol.name;
  if (!isOther || typeof tags.question !== 'string') {
    if (isOther)
      throw new RowRefused('its question is not known, so its prompt cannot be rewritten');
    return {
      ...(system.length > 0 && { system: system.join('\n') }),
      prompt: parts.map((part) => names.part(part)),
    };
  }
  const images = parts
    .filter((part) => part.type === 'image')
    .map((part, index) => {
      const { width, height } = pngSize(part.image);
      return { name: `image_clue_${index}`, png: part.image, width, height };
    });
  const task = { id, question: tags.question, images, answer: '', metadata: {} };
  const { system: own, user } = protocol.prompt(task);
  names.count = images.length;
  return { ...(own !== undefined && { system: own }), prompt: user };
}

function turnOf(
  message: Message,
  at: number,
  { protocol, from = protocol }: WordsOptions,
): { readonly text: string; readonly action: Action; readonly isRewritten: boolean } {
  const said = textOf(partsOf(message));
  const [call, ...more] = message.tool_calls ?? [];
  if (more.length > 0)
    throw new RowRefused(`messages[${at}] makes several calls, a turn makes one`);
  const action = call === undefined ? from.parse(said) : callAction(call);
  if (action.kind === 'invalid') {
    throw new RowRefused(
      `messages[${at}] cannot be read in the words of ${from.name}: ${action.reason}`,
    );
  }
  if (call === undefined && from.name === protocol.name) {
    return { text: said, action, isRewritten: false };
  }
  try {
    const thought = call === undefined ? thoughtIn(said) : said;
    const text = protocol.write(action, thought);
    // What it would do when it is read must be what it was.
    return { text, action: protocol.parse(text), isRewritten: true };
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    throw new RowRefused(`messages[${at}]: ${error.message}`);
  }
}

/** What is said before the first tag or fence that acts. */
function thoughtIn(text: string): string {
  const tagged = /<think>([\s\S]*?)<\/think>/.exec(text)?.[1];
  if (tagged !== undefined) return tagged.trim();
  return text.split(/<code>|<tool_call>|<answer>|```/)[0]?.trim() ?? '';
}

function answeredTurn(
  { text, action, isRewritten }: ReturnType<typeof turnOf>,
  answers: readonly Message[],
  names: ImageNames,
  { protocol }: WordsOptions,
): WordedTurn {
  const parts = answers.flatMap(partsOf);
  const told = answers.find(({ result }) => result !== undefined)?.result;
  const imageCount = parts.filter(({ type }) => type === 'image').length;
  const result: ToolResult = {
    ...{ kind: 'ok', stdout: textOf(parts), stderr: '', imageCount, wallMs: 0 },
    ...told,
  };
  const isTool = answers.some(({ role }) => role === 'tool');
  const used = action.kind === 'code' || action.kind === 'toolCall';
  const outcome = { ...(used && { result }) };
  if (!isTool && !isRewritten) {
    return { text, action, ...outcome, observation: parts.map((part) => names.part(part)) };
  }
  if (!isTool && told === undefined) {
    throw new RowRefused('what a tool gave is not apart from the words of its protocol');
  }
  const images = parts
    .filter((part) => part.type === 'image')
    .map((part) => {
      const { width, height } = pngSize(part.image);
      return { png: part.image, width, height, source: 'image' as const };
    });
  const { errorType, errorMessage } = result;
  const observation = protocol.observe(
    {
      ...{ kind: result.kind, stdout: result.stdout, stderr: result.stderr, images },
      ...(errorType !== undefined && {
        error: { type: errorType, message: errorMessage ?? '', traceback: '' },
      }),
      ...{ truncated: [], wallMs: 0, cpuMs: 0, maxRssKb: 0, tier: '' },
    },
    { imageIndex: names.count, callsLeft: 1 },
  );
  names.count += images.length;
  return { text, action, ...outcome, observation };
}

/** Names of images, which must differ within a trajectory. */
class ImageNames {
  count = 0;

  part(part: MessagePart): GymPart {
    if (part.type === 'text') return { kind: 'text', text: part.text };
    if (part.type !== 'image') throw new RowRefused('an image was not loaded');
    const { image: png, name = `image_clue_${this.count}`, origin } = part;
    this.count++;
    return { kind: 'image', name, png, ...pngSize(png), ...(origin && { origin }) };
  }
}

function pngSize(png: Uint8Array): { readonly width: number; readonly height: number } {
  if (png.length < 24) throw new RowRefused('an image is no PNG');
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

function textOf(parts: readonly MessagePart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
