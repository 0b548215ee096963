/** Chat templates of published checkpoints, for tests. The comparison with transformers has more. */

/** Qwen2-VL and Qwen2.5-VL: a default system prompt, numbered images on request. */
export const qwen25Template: string = [
  '{% set image_count = namespace(value=0) %}{% set video_count = namespace(value=0) %}',
  "{% for message in messages %}{% if loop.first and message['role'] != 'system' %}",
  '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}',
  "<|im_start|>{{ message['role'] }}\n{% if message['content'] is string %}",
  "{{ message['content'] }}<|im_end|>\n{% else %}{% for content in message['content'] %}",
  "{% if content['type'] == 'image' or 'image' in content or 'image_url' in content %}",
  '{% set image_count.value = image_count.value + 1 %}',
  '{% if add_vision_id %}Picture {{ image_count.value }}: {% endif %}',
  '<|vision_start|><|image_pad|><|vision_end|>',
  "{% elif content['type'] == 'video' or 'video' in content %}",
  '{% set video_count.value = video_count.value + 1 %}',
  '{% if add_vision_id %}Video {{ video_count.value }}: {% endif %}',
  '<|vision_start|><|video_pad|><|vision_end|>',
  "{% elif 'text' in content %}{{ content['text'] }}{% endif %}{% endfor %}<|im_end|>\n",
  '{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}',
].join('');

/** The `-hf` checkpoints of InternVL 3. */
export const internvlTemplate: string = [
  "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n'}}",
  "{% if message['content'] is string %}{{ message['content'] }}{% else %}",
  "{% for content in message['content'] %}",
  "{% if content['type'] == 'image' %}{{ '<IMG_CONTEXT>\\n' }}",
  "{% elif content['type'] == 'video' %}{{ '<video>\\n' }}",
  "{% elif content['type'] == 'text' %}{{ content['text'] }}{% endif %}{% endfor %}{% endif %}",
  "{{'<|im_end|>\\n'}}{% endfor %}",
  "{% if add_generation_prompt %}{{'<|im_start|>assistant\\n' }}{% endif %}",
].join('');

/** SmolVLM: roles as words, and no space before an image. */
export const smolvlmTemplate: string = [
  "<|im_start|>{% for message in messages %}{{message['role'] | capitalize}}",
  "{% if message['content'][0]['type'] == 'image' %}{{':'}}{% else %}{{': '}}{% endif %}",
  "{% for line in message['content'] %}{% if line['type'] == 'text' %}{{line['text']}}",
  "{% elif line['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}<end_of_utterance>\n",
  "{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}",
].join('');

/**
 * Like the templates of thinking models: the header opens the thoughts, and earlier thoughts are
 * left out once a user speaks again.
 */
export const thinkingTemplate: string = [
  '{%- set ns = namespace(last=0) -%}{%- for message in messages -%}',
  "{%- if message.role == 'user' -%}{%- set ns.last = loop.index0 -%}{%- endif -%}{%- endfor -%}",
  "{%- for message in messages -%}{%- set ns2 = namespace(text='') -%}",
  "{%- for part in message.content -%}{%- if part.type == 'text' -%}",
  '{%- set ns2.text = ns2.text + part.text -%}{%- endif -%}{%- endfor -%}',
  "{{- '<|im_start|>' + message.role + '\\n' -}}",
  "{%- if message.role == 'assistant' and loop.index0 > ns.last -%}{{- ns2.text -}}",
  "{%- else -%}{{- ns2.text.split('</think>')[-1].lstrip('\\n') -}}{%- endif -%}",
  "{{- '<|im_end|>\\n' -}}{%- endfor -%}",
  "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n<think>\\n' -}}{%- endif -%}",
].join('');
