/** The chat markup as the template other software renders; the processor writes the same tokens. */

/** Jinja, saved as `chat_template.jinja`. An image is one placeholder until its size is known. */
export const chatTemplate: string = [
  "{%- for message in messages -%}{{- '<|im_start|>' + message['role'] + '\\n' -}}",
  "{%- if message['content'] is string -%}{{- message['content'] -}}{%- else -%}",
  "{%- for part in message['content'] -%}{%- if part['type'] == 'image' -%}",
  "{{- '<|vision_start|><|image_pad|><|vision_end|>' -}}{%- elif part['type'] == 'video' -%}",
  "{{- '<|vision_start|><|video_pad|><|vision_end|>' -}}",
  "{%- else -%}{{- part['text'] -}}{%- endif -%}{%- endfor -%}{%- endif -%}",
  "{{- '<|im_end|>\\n' -}}{%- endfor -%}",
  "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}",
].join('');
