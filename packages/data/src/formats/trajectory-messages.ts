/** Trajectories as conversations, and conversations as trajectories. */
import type { Protocol } from '@saccade/gym';
import { ChatProcessor, mark, readTurns } from '@saccade/rollout/chat-player';
import {
  type Action,
  isToolUse,
  type Message,
  type MessagePart,
  type MessageToolCall,
  type Trajectory,
  TrajectoryBuilder,
  type TrajectoryImage,
} from '@saccade/trajectory';
import { type DialogSample, RowRefused } from './format.ts';
import { partsOf } from './image-marks.ts';

/**
 * The messages of a trajectory: prompt, then the model's turns and the observations, as they were.
 * Observations carry how the tool call before them ended.
 *
 * @throws RowRefused if its tokens cannot be read as turns
 */
export function messagesOf(trajectory: Trajectory): readonly Message[] {
  const turns = isPlayed(trajectory) ? playedTurns(trajectory) : markedTurns(trajectory);
  let turn = -1;
  return turns.map((message): Message => {
    if (message.role === 'assistant') turn++;
    const result =
      message.role === 'user' && turn >= 0 ? trajectory.turns[turn]?.result : undefined;
    return result === undefined ? message : { ...message, result };
  });
}

const imagesOf = ({ segments }: Trajectory): readonly TrajectoryImage[] =>
  segments.flatMap(({ images }) => images);

/** Whether its tokens are those of a `ChatProcessor`: a prompt that opens and closes with its marks. */
function isPlayed({ tokenSource, segments: [prompt] }: Trajectory): boolean {
  if (tokenSource !== 'bytes' || prompt === undefined) return false;
  const [first, last] = [prompt.tokens[0], prompt.tokens.at(-1)];
  return (first === mark.system || first === mark.user) && last === mark.assistant;
}

function playedTurns(trajectory: Trajectory): readonly Message[] {
  const tokens = Int32Array.from(trajectory.segments.flatMap((segment) => [...segment.tokens]));
  return readTurns(tokens, imagesOf(trajectory)).map(({ role, parts }) => ({
    role,
    content: contentOf(
      parts.map((part) =>
        part.kind === 'text' ? { type: 'text', text: part.text } : imagePart(part.image),
      ),
    ),
  }));
}

function imagePart({ png, name, origin }: TrajectoryImage): MessagePart {
  return { type: 'image', image: png, name, ...(origin && { origin }) };
}

/** Text alone is a string, as most files have it. */
function contentOf(parts: readonly MessagePart[]): string | readonly MessagePart[] {
  const texts = parts.map((part) => (part.type === 'text' ? part.text : undefined));
  return texts.includes(undefined) ? parts : texts.join('');
}

const header = /<\|im_start\|>(system|user|assistant|tool)\n/;
const vision = /<\|vision_start\|>(?:<\|image_pad\|>)+<\|vision_end\|>/;

/** Turns by the chat markup of Qwen's tokenizers, which the text of its tokens shows. */
function markedTurns(trajectory: Trajectory): readonly Message[] {
  const text = trajectory.segments.map((segment) => segment.text).join('');
  const pieces = text.split(header);
  const images = [...imagesOf(trajectory)];
  if (pieces.length < 3 || pieces[0] !== '') {
    throw new RowRefused(
      'its tokens are of a tokenizer whose turns cannot be read from their text',
    );
  }
  const messages: Message[] = [];
  for (let at = 1; at + 1 < pieces.length; at += 2) {
    const role = pieces[at] as 'system' | 'user' | 'assistant' | 'tool';
    const said = (pieces[at + 1] ?? '').replace(/<\|im_end\|>\n?$/, '');
    const parts = said.split(vision).flatMap((piece, index): readonly MessagePart[] => {
      const words: readonly MessagePart[] = piece === '' ? [] : [{ type: 'text', text: piece }];
      if (index === 0) return words;
      const image = images.shift();
      if (image === undefined) throw new RowRefused('its text has more images than it holds');
      return [imagePart(image), ...words];
    });
    messages.push({ role: role === 'tool' ? 'user' : role, content: contentOf(parts) });
  }
  if (images.length === 0) return messages;
  throw new RowRefused(`${images.length} of its images stand nowhere in its text`);
}

/** Images count for little: nothing samples from these tokens. */
const processor = new ChatProcessor({ pixelsPerToken: 784, maxTokens: 1280 });

/**
 * The trajectory of a conversation, marked `bytes`. Calls of a message are written into its text.
 *
 * @param protocol reads what the assistant says; without one, what calls no tool and comes last is the
 *   answer
 * @throws RowRefused if the messages are no such conversation
 */
export async function trajectoryOf(
  { id, messages, tags = {} }: DialogSample,
  protocol?: Pick<Protocol, 'parse'>,
): Promise<Trajectory> {
  const first = messages.findIndex(({ role }) => role === 'assistant');
  if (first < 1) throw new RowRefused('it must begin with a prompt, and then the assistant’s turn');
  const builder = new TrajectoryBuilder({
    id,
    taskId: typeof tags.taskId === 'string' ? tags.taskId : id,
    ...{ sampleIndex: 0, tokenSource: 'bytes', imageToken: processor.imageToken },
  });
  let imageCount = 0;
  const given = async (some: readonly Message[], isPrompt: boolean) => {
    const system = some.filter(({ role }) => role === 'system' || role === 'developer');
    const parts = some.filter((message) => !system.includes(message)).flatMap(partsOf);
    const images: TrajectoryImage[] = [];
    const content = await Promise.all(
      parts.map(async (part) => {
        if (part.type === 'text') return { kind: 'text' as const, text: part.text };
        if (part.type !== 'image') throw new RowRefused('an image was not loaded');
        const image = await processor.prepareImage(part.image);
        const { width, height, tokenCount } = image;
        const { name = `image_${imageCount++}`, origin } = part;
        const size = { width, height, modelWidth: width, modelHeight: height, tokenCount };
        images.push({ name, png: part.image, ...size, ...(origin && { origin }) });
        return { kind: 'image' as const, image };
      }),
    );
    const words = system.flatMap(partsOf).map((part) => (part.type === 'text' ? part.text : ''));
    const { tokens } = isPrompt
      ? processor.encodePrompt(content, system.length > 0 ? words.join('\n') : undefined)
      : processor.encodeObservation(content, true);
    return { tokens, images, text: processor.decode(tokens) };
  };
  builder.prompt(await given(messages.slice(0, first), true));
  let last: Action | undefined;
  for (let at = first; at < messages.length; ) {
    const message = messages[at] as Message;
    let end = at + 1;
    while (end < messages.length && messages[end]?.role !== 'assistant') end++;
    const answers = messages.slice(at + 1, end);
    if (answers.length === 0 && end < messages.length) {
      throw new RowRefused(`messages ${at} and ${at + 1} are both the assistant’s`);
    }
    const { text, action } = turnOf(message, end === messages.length, protocol);
    const tokens = processor.encodeModelText(text, true);
    builder.model({ tokens, logprobs: new Float32Array(tokens.length), text, policyVersion: 0 });
    const observed = answers.length > 0 ? await given(answers, false) : undefined;
    const told = answers.find(({ result }) => result !== undefined)?.result;
    const stdout = answers
      .flatMap(partsOf)
      .map((p) => (p.type === 'text' ? p.text : ''))
      .join('');
    const result = {
      ...{ kind: 'ok' as const, stdout, stderr: '', wallMs: 0 },
      ...{ imageCount: observed?.images.length ?? 0, ...told },
    };
    builder.turn(action, observed && isToolUse(action) ? result : undefined);
    if (observed) builder.observation(observed);
    last = action;
    at = end;
  }
  if (last?.kind === 'answer') return builder.finish('answered');
  return builder.finish(last?.kind === 'invalid' ? 'invalidAction' : 'turnLimit');
}

function turnOf(
  message: Message,
  isLast: boolean,
  protocol: Pick<Protocol, 'parse'> | undefined,
): { readonly text: string; readonly action: Action } {
  const said = partsOf(message).map((part) => (part.type === 'text' ? part.text : ''));
  const words = said.join('');
  const [call, ...more] = message.tool_calls ?? [];
  if (more.length > 0) throw new RowRefused('a message makes several calls, a turn makes one');
  if (call !== undefined) {
    const action = callAction(call);
    const json = JSON.stringify({ name: action.name, arguments: action.arguments });
    const text = `${words}${words === '' ? '' : '\n'}<tool_call>\n${json}\n</tool_call>`;
    return { text, action };
  }
  if (protocol !== undefined) return { text: words, action: protocol.parse(words) };
  const action: Action = isLast
    ? { kind: 'answer', answer: words.trim() }
    : { kind: 'invalid', reason: 'noCall' };
  return { text: words, action };
}

/** The action of a call. @throws RowRefused if its arguments are no object */
export function callAction(call: MessageToolCall): Extract<Action, { kind: 'toolCall' }> {
  const { name, arguments: given } = call.function;
  let read: unknown = given;
  try {
    if (typeof given === 'string') read = JSON.parse(given);
  } catch {
    throw new RowRefused(`the arguments of ${name} are not JSON`);
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) {
    throw new RowRefused(`the arguments of ${name} must be an object`);
  }
  return { kind: 'toolCall', name, arguments: read as Readonly<Record<string, unknown>> };
}
