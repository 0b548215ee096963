/** The chat markup of models that are not published, as the template that other software renders. */

/** The marks of a chat format. An image is one placeholder until its size is known. */
export interface ChatMarks {
  readonly image: string;
  readonly video: string;
  readonly endOfTurn: string;
}

/** Jinja, saved as `chat_template.jinja`: turns after their roles, as in ChatML. */
export function writeChatTemplate({ image, video, endOfTurn }: ChatMarks): string {
  return [
    "{%- for message in messages -%}{{- '<|im_start|>' + message['role'] + '\\n' -}}",
    "{%- if message['content'] is string -%}{{- message['content'] -}}{%- else -%}",
    "{%- for part in message['content'] -%}{%- if part['type'] == 'image' -%}",
    `{{- '${image}' -}}{%- elif part['type'] == 'video' -%}`,
    `{{- '${video}' -}}`,
    "{%- else -%}{{- part['text'] -}}{%- endif -%}{%- endfor -%}{%- endif -%}",
    `{{- '${endOfTurn}\\n' -}}{%- endfor -%}`,
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}",
  ].join('');
}

/** The template of the Qwen families, without the default system turn of published models. */
export const chatTemplate: string = writeChatTemplate({
  image: '<|vision_start|><|image_pad|><|vision_end|>',
  video: '<|vision_start|><|video_pad|><|vision_end|>',
  endOfTurn: '<|im_end|>',
});
