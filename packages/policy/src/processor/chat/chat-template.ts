/** A checkpoint's chat template: Jinja, as transformers renders it. */
import { Template } from '@huggingface/jinja';
import { DataError, messageOf } from '@saccade/core';
import type { Json } from '../json-fields.ts';
import { RecentResults } from '../recent-results.ts';

/** A message as templates see it: `role`, `content`, and what else a template knows. */
export type TemplateMessage = Json;

/** What a template is rendered with, besides the messages. */
export interface RenderOptions {
  /** JSON schemas of tools that the model may call. */
  readonly tools?: readonly Json[];
  /** Whether the header that opens the assistant's turn follows. Default false. */
  readonly addGenerationPrompt?: boolean;
}

/** How a template takes the contents of messages: in parts, or as texts, which are all it knows. */
export type ContentForm = 'parts' | 'text';

/** A chat template, compiled once; it renders a conversation to text. */
export class ChatTemplate {
  /** The template's text: `chat_template.jinja`. */
  readonly source: string;
  readonly #template: Template;
  readonly #variables: Json;
  readonly #form: ContentForm;
  /** A run renders the same prompts over and over. Absent where a template asks for the time. */
  readonly #recent: RecentResults<string> | undefined;

  /**
   * @param variables  further variables of the template: the names of special tokens (`bos_token`)
   * @throws DataError if the template cannot be parsed
   */
  constructor(source: string, variables: Json = {}, form: ContentForm = 'parts') {
    this.source = source;
    this.#variables = variables;
    this.#form = form;
    this.#recent = source.includes('strftime_now') ? undefined : new RecentResults();
    try {
      this.#template = new Template(source);
    } catch (cause) {
      throw new DataError(`The chat template cannot be parsed: ${messageOf(cause)}. Correct it.`, {
        cause,
      });
    }
  }

  /** The text of a conversation. @throws DataError if the template refuses it */
  render(messages: readonly TemplateMessage[], options: RenderOptions = {}): string {
    const render = () => this.#render(messages, options);
    // An image is its place in the content, so that the key is all that the text depends on.
    return this.#recent?.of(JSON.stringify([messages, options]), render) ?? render();
  }

  #render(messages: readonly TemplateMessage[], options: RenderOptions): string {
    try {
      return this.#template.render({
        ...this.#variables,
        messages: this.#form === 'text' ? messages.map(inText) : messages,
        tools: options.tools ?? null,
        documents: null,
        add_generation_prompt: options.addGenerationPrompt ?? false,
      });
    } catch (cause) {
      const roles = messages.map(({ role }) => String(role)).join(', ');
      throw new DataError(
        `The chat template refuses a conversation of ${roles}: ${messageOf(cause)}. ` +
          'Use the roles and contents it knows.',
        { cause },
      );
    }
  }
}

/** A message whose parts, which are texts, are one. */
function inText(message: TemplateMessage): TemplateMessage {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  return { ...message, content: content.map((part: Json) => String(part.text ?? '')).join('') };
}
