/** The messages of a chat completion as the tokens of a prompt. */
import type { EncodedContent, Processor } from '../policy.ts';
import type { ChatMessage } from '../processor/chat/message.ts';
import type { Json } from '../processor/json-fields.ts';
import { type ChatBody, type ChatBodyMessage, toolsOf } from './chat-body.ts';
import type { PromptReader } from './prompt.ts';
import { refused } from './refusal.ts';

/**
 * Encodes the conversation by the checkpoint's own template.
 *
 * @throws Refusal if the model has no template, its template has no tools, or an image is refused
 */
export async function chatPrompt(
  body: ChatBody,
  processor: Processor,
  prompts: PromptReader,
): Promise<EncodedContent> {
  const encode = processor.encodeConversation?.bind(processor);
  if (encode === undefined) {
    throw refused('This model has no chat template. Send its tokens to /v1/completions.');
  }
  const urls = body.messages.flatMap(({ content }) =>
    typeof content === 'string' || content == null
      ? []
      : content.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : [])),
  );
  const images = [...(await prompts.images(urls))];
  const messages = body.messages.map((message) => chatMessage(message, () => images.shift()));
  const tools = toolsOf(body);
  const encoded = encode(messages, { tools, addGenerationPrompt: true });
  if (tools.length > 0 && isSame(encoded, encode(messages, { addGenerationPrompt: true }))) {
    throw refused('The chat template of this model has no tools. Describe them in a message.');
  }
  return encoded;
}

function chatMessage(
  { role, content, tool_calls: calls }: ChatBodyMessage,
  nextImage: () => EncodedContent['images'][number] | undefined,
): ChatMessage {
  return {
    // Templates know the older name.
    role: role === 'developer' ? 'system' : role,
    content:
      typeof content === 'string' || content == null
        ? (content ?? '')
        : content.map((part) => {
            const image = part.type === 'image_url' ? nextImage() : undefined;
            if (image !== undefined) return { kind: 'image', image };
            return { kind: 'text', text: part.type === 'text' ? part.text : '' };
          }),
    ...(calls != null &&
      calls.length > 0 && {
        toolCalls: calls.map(({ function: { name, arguments: given } }) => ({
          name,
          arguments: objectOf(given),
        })),
      }),
  };
}

/** Templates write objects; what the model wrote as no JSON stays text. */
function objectOf(given: string | Readonly<Record<string, unknown>>): Json | string {
  if (typeof given !== 'string') return given as Json;
  try {
    const read: unknown = JSON.parse(given);
    return typeof read === 'object' && read !== null ? (read as Json) : given;
  } catch {
    return given;
  }
}

function isSame(one: EncodedContent, other: EncodedContent): boolean {
  const { length } = one.tokens;
  return length === other.tokens.length && one.tokens.every((id, at) => id === other.tokens[at]);
}
