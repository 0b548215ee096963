/** Published models by their sizes, with random weights and a small tokenizer: what decoding is measured on. */
import {
  nanoConfig,
  QwenProcessor,
  qwen2_5_vl,
  qwenImageProcessor,
  trainTokenizer,
} from '@saccade/policy';
import { type Json, JsonFields, type ProcessorFiles } from '@saccade/policy/processors';
import { type QwenSizes, qwen3b, qwen7b } from '../published-sizes.ts';

/** The files of a checkpoint but for its weights. */
export interface Shape {
  readonly config: Json;
  readonly processor: ProcessorFiles;
}

/** Vocabulary of the small tokenizer; the model's own is that of the published model. */
const SMALL_VOCABULARY = 320;
const CORPUS = ['Which digit is hidden behind the image? User: Assistant: The answer is '];

function qwen({ vocabulary, vision, ...text }: QwenSizes): Shape {
  const processor = new QwenProcessor(trainTokenizer(CORPUS, SMALL_VOCABULARY), qwenImageProcessor);
  const nano = nanoConfig(vocabulary, processor.tokens);
  const model = qwen2_5_vl.model({
    ...nano,
    ...text,
    maxPositions: 128_000,
    vision: { ...nano.vision, ...vision },
  });
  return { config: model.configJson(processor.endOfTurn), processor: processor.files };
}

/** The 3B model in thin: two layers of its decoder and tower, and a small head. */
const qwenThin: QwenSizes = {
  ...qwen3b,
  vocabulary: 8192,
  layers: 2,
  vision: { ...qwen3b.vision, depth: 2, fullAttentionBlocks: [1] },
};

/** A shape for tests: it takes a megabyte. */
const qwenTiny: QwenSizes = {
  vocabulary: 512,
  hidden: 128,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  intermediate: 256,
  mropeSection: [4, 6, 6],
  isTied: true,
  vision: { depth: 2, hidden: 64, heads: 2, intermediate: 96, fullAttentionBlocks: [1] },
};

const TEMPLATE = [
  "<|im_start|>{% for message in messages %}{{message['role'] | capitalize}}",
  "{% if message['content'][0]['type'] == 'image' %}{{':'}}{% else %}{{': '}}{% endif %}",
  "{% for line in message['content'] %}{% if line['type'] == 'text' %}{{line['text']}}",
  "{% elif line['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}<end_of_utterance>\n",
  "{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}",
].join('');

interface SmolSizes {
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly intermediate: number;
}

/** SmolVLM2: SigLIP-B/16 at 512 pixels, a shuffle of 4 × 4, SmolLM2. Images are one tile of 64 tokens. */
function smol({ hidden, layers, heads, kvHeads, intermediate }: SmolSizes): Shape {
  const plain = trainTokenizer(CORPUS, SMALL_VOCABULARY);
  const added = plain.added_tokens as readonly { readonly id: number }[];
  const first = 1 + Math.max(SMALL_VOCABULARY, ...added.map(({ id }) => id));
  const places = [1, 2, 3, 4].flatMap((row) => [1, 2, 3, 4].map((column) => [row, column]));
  const names = [
    '<fake_token_around_image>',
    '<image>',
    '<global-img>',
    '<end_of_utterance>',
    ...places.map(([row, column]) => `<row_${row}_col_${column}>`),
  ];
  const more = names.map((content, i) => ({ ...added[0], id: first + i, content }));
  const config: Json = {
    architectures: ['SmolVLMForConditionalGeneration'],
    model_type: 'smolvlm',
    dtype: 'bfloat16',
    image_token_id: first + 1,
    scale_factor: 4,
    tie_word_embeddings: false,
    text_config: {
      model_type: 'llama',
      vocab_size: 49_280,
      hidden_size: hidden,
      intermediate_size: intermediate,
      num_hidden_layers: layers,
      num_attention_heads: heads,
      num_key_value_heads: kvHeads,
      head_dim: 64,
      max_position_embeddings: 8192,
      rms_norm_eps: 1e-5,
      rope_theta: 100_000,
      hidden_act: 'silu',
      attention_bias: false,
      mlp_bias: false,
      tie_word_embeddings: false,
    },
    vision_config: {
      model_type: 'smolvlm_vision',
      hidden_size: 768,
      intermediate_size: 3072,
      num_hidden_layers: 12,
      num_attention_heads: 12,
      num_channels: 3,
      patch_size: 16,
      image_size: 512,
      layer_norm_eps: 1e-6,
      hidden_act: 'gelu_pytorch_tanh',
    },
  };
  const processor: ProcessorFiles = {
    tokenizer: { ...plain, added_tokens: [...added, ...more] },
    tokenizerConfig: { eos_token: '<end_of_utterance>', bos_token: null },
    processor: new JsonFields(
      { processor_class: 'SmolVLMProcessor', image_seq_len: 64 },
      'processor_config.json',
    ),
    images: new JsonFields(
      {
        size: { longest_edge: 512 },
        max_image_size: { longest_edge: 512 },
        do_image_splitting: false,
        image_mean: [0.5, 0.5, 0.5],
        image_std: [0.5, 0.5, 0.5],
      },
      'preprocessor_config.json',
    ),
    chatTemplate: TEMPLATE,
    config: new JsonFields(config, 'config.json'),
    layout: 'separate',
  };
  return { config, processor };
}

/** The shapes by name; each is made when it is asked for. */
export const shapes: Readonly<Record<string, () => Shape>> = {
  'qwen2.5-vl-3b': () => qwen(qwen3b),
  'qwen2.5-vl-7b': () => qwen(qwen7b),
  'qwen2.5-vl-thin': () => qwen(qwenThin),
  'qwen2.5-vl-tiny': () => qwen(qwenTiny),
  'smolvlm2-256m': () =>
    smol({ hidden: 576, layers: 30, heads: 9, kvHeads: 3, intermediate: 1536 }),
  'smolvlm2-500m': () =>
    smol({ hidden: 960, layers: 32, heads: 15, kvHeads: 5, intermediate: 2560 }),
};
