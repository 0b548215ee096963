/** Messages as turns of named roles with marked images: the words of LLaMA-Factory and ms-swift. */
import type { Message, MessageToolCall } from '@saccade/trajectory';
import { RowRefused } from './format.ts';
import { MarkedImages, markedText } from './image-marks.ts';

/** One turn: its role in the format's words, and its text with marks. */
export interface RoleTurn {
  readonly role: string;
  readonly text: string;
}

/** How a format calls the roles; a call is JSON of a name and arguments. */
export interface RoleNames {
  readonly system: string;
  readonly user: string;
  readonly assistant: string;
  readonly call: string;
  readonly response: string;
}

/** Turns and images of some messages. @throws RowRefused if a message cannot be expressed */
export function roleTurns(
  messages: readonly Message[],
  names: RoleNames,
): { readonly turns: readonly RoleTurn[]; readonly images: readonly Uint8Array[] } {
  const images: Uint8Array[] = [];
  const turns = messages.flatMap((message): readonly RoleTurn[] => {
    const text = markedText(message, (png) => images.push(png));
    if (message.role === 'tool') return [{ role: names.response, text }];
    if (message.role !== 'assistant') {
      const role = message.role === 'developer' ? 'system' : message.role;
      return [{ role: names[role], text }];
    }
    const calls = message.tool_calls ?? [];
    const said = calls.length > 0 && text === '' ? [] : [{ role: names.assistant, text }];
    if (calls.length > 0 && text !== '') {
      throw new RowRefused('a message both speaks and calls a tool, which the format keeps apart');
    }
    return [...said, ...calls.map((call) => ({ role: names.call, text: callJson(call) }))];
  });
  return { turns, images };
}

/** Messages of some turns. @throws RowRefused for a role that is not known */
export function messagesOfTurns(
  turns: readonly RoleTurn[],
  images: readonly Uint8Array[],
  names: RoleNames,
): readonly Message[] {
  const marked = new MarkedImages(images);
  const messages: Message[] = [];
  for (const { role, text } of turns) {
    if (role === names.call) {
      const call = callIn(text);
      const last = messages.at(-1);
      // Calls that follow one another were made together.
      if (last?.role === 'assistant' && last.tool_calls != null && last.content === null) {
        messages[messages.length - 1] = { ...last, tool_calls: [...last.tool_calls, call] };
      } else messages.push({ role: 'assistant', content: null, tool_calls: [call] });
      continue;
    }
    const known = (['system', 'user', 'assistant'] as const).find((one) => names[one] === role);
    if (known === undefined && role !== names.response && role !== 'tool') {
      throw new RowRefused(`the role ${role} is not known`);
    }
    messages.push({ role: known ?? 'tool', content: marked.content(text) });
  }
  marked.checkEnd();
  return messages;
}

function callJson({ function: { name, arguments: given } }: MessageToolCall): string {
  if (typeof given !== 'string') return JSON.stringify({ name, arguments: given });
  try {
    return JSON.stringify({ name, arguments: JSON.parse(given) as unknown });
  } catch {
    throw new RowRefused(`the arguments of ${name} are not JSON`);
  }
}

function callIn(text: string): MessageToolCall {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw new RowRefused('a call is not JSON');
  }
  const { name, arguments: given } = (read ?? {}) as { name?: unknown; arguments?: unknown };
  if (typeof name !== 'string' || typeof given !== 'object' || given === null) {
    throw new RowRefused('a call has no name or no arguments');
  }
  return { function: { name, arguments: given as Record<string, unknown> } };
}
