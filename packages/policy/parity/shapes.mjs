// Thin models with the head sizes, sections, windows and levels of published ones: `config.json` of
// each, and the grids of patches of the images they are compared on.

const VOCABULARY = 320;

const text = (hidden, heads, kvHeads, more = {}) => ({
  vocab_size: VOCABULARY,
  hidden_size: hidden,
  num_hidden_layers: 2,
  num_attention_heads: heads,
  num_key_value_heads: kvHeads,
  intermediate_size: 96,
  rms_norm_eps: 1e-6,
  max_position_embeddings: 1024,
  rope_parameters: { rope_type: 'default', rope_theta: 1e6 },
  ...more,
});

const textOnly = (type, size, isTied) => ({
  model_type: type,
  ...size,
  tie_word_embeddings: isTied,
});

const qwen25Vl = (size, section, isTied, vision) => ({
  model_type: 'qwen2_5_vl',
  tie_word_embeddings: isTied,
  text_config: {
    ...size,
    rope_parameters: { rope_type: 'default', rope_theta: 1e6, mrope_section: section },
  },
  vision_config: {
    depth: 3,
    hidden_size: 160,
    num_heads: 2,
    intermediate_size: 120,
    patch_size: 14,
    spatial_merge_size: 2,
    temporal_patch_size: 2,
    window_size: 112,
    fullatt_block_indexes: [1],
    tokens_per_second: 2,
    ...vision,
  },
});

const qwen3Vl = (type, size, section, isTied, vision) => ({
  model_type: type,
  tie_word_embeddings: isTied,
  text_config: {
    ...size,
    rope_parameters: {
      rope_type: 'default',
      rope_theta: 5e6,
      mrope_section: section,
      mrope_interleaved: true,
    },
  },
  vision_config: {
    depth: 4,
    hidden_size: 128,
    num_heads: 2,
    intermediate_size: 96,
    patch_size: 16,
    spatial_merge_size: 2,
    temporal_patch_size: 2,
    num_position_embeddings: 2304,
    deepstack_visual_indexes: [0, 1],
    ...vision,
  },
});

const qwen3VlMoe = (size, experts, section, isTied, vision) =>
  qwen3Vl(
    'qwen3_vl_moe',
    { moe_intermediate_size: 48, ...size, ...experts },
    section,
    isTied,
    vision,
  );

const internvl = (textConfig, isTied, vision) => ({
  model_type: 'internvl',
  tie_word_embeddings: isTied,
  downsample_ratio: 0.5,
  text_config: textConfig,
  vision_config: {
    hidden_size: 128,
    num_hidden_layers: 2,
    num_attention_heads: 2,
    intermediate_size: 96,
    attention_bias: true,
    use_qk_norm: false,
    norm_type: 'layer_norm',
    layer_norm_eps: 1e-6,
    image_size: [56, 56],
    patch_size: [14, 14],
    layer_scale_init_value: 0.1,
    ...vision,
  },
});

const idefics3 = (type, textConfig, isTied, scale, vision) => ({
  model_type: type,
  tie_word_embeddings: isTied,
  scale_factor: scale,
  text_config: { model_type: 'llama', ...textConfig },
  vision_config: {
    hidden_size: 128,
    num_hidden_layers: 2,
    num_attention_heads: 2,
    intermediate_size: 96,
    image_size: 64,
    patch_size: 16,
    layer_norm_eps: 1e-6,
    ...vision,
  },
});

const llama3 = {
  rope_parameters: {
    rope_type: 'llama3',
    rope_theta: 5e5,
    factor: 8,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 256,
  },
};

/** Grids of patches of tiled images: how many tiles, of how many patches a side. */
const tiled = (side, first, second, frames) => ({
  images: [
    [first, side, side],
    [second, side, side],
  ],
  video: { grid: [frames, side, side] },
});

/** What thin models are made by. */
export const makers = { idefics3, internvl, qwen25Vl, qwen3Vl, qwen3VlMoe, text, textOnly, tiled };

/** A tile of one unit, so that contexts of many images are short. */
const smallTiles = (config) => ({ config, ...tiled(2, 1, 2, 2) });

/** By architecture: the shape that unusual contexts are compared with. */
export const unusual = {
  qwen2_5_vl: { config: qwen25Vl(text(128, 1, 1), [16, 24, 24], true, {}) },
  qwen3_vl: {
    config: qwen3Vl('qwen3_vl', text(80, 2, 1, { head_dim: 128 }), [24, 20, 20], true, {}),
  },
  qwen3_vl_moe: {
    config: qwen3VlMoe(
      text(80, 2, 1, { head_dim: 128 }),
      { num_experts: 6, num_experts_per_tok: 2 },
      [24, 20, 20],
      true,
      {},
    ),
  },
  internvl: smallTiles(
    internvl({ model_type: 'qwen2', ...text(128, 2, 1) }, true, { image_size: [28, 28] }),
  ),
  idefics3: smallTiles(idefics3('idefics3', text(128, 1, 1, llama3), true, 2, { image_size: 32 })),
  smolvlm: smallTiles(idefics3('smolvlm', text(192, 3, 1), true, 2, { image_size: 32 })),
};

/** By architecture: at least three shapes, with grids of patches of the images and of a video. */
export const shapes = {
  qwen2: [
    { config: textOnly('qwen2', text(128, 2, 1), true) },
    { config: textOnly('qwen2', text(256, 2, 2), false) },
    { config: textOnly('qwen2', text(192, 6, 2), true) },
  ],
  qwen3: [
    { config: textOnly('qwen3', text(80, 4, 2, { head_dim: 128 }), true) },
    { config: textOnly('qwen3', text(256, 2, 1, { head_dim: 128 }), false) },
    { config: textOnly('qwen3', text(96, 3, 3, { head_dim: 64 }), true) },
  ],
  qwen2_5_vl: [
    {
      config: qwen25Vl(text(256, 2, 1), [16, 24, 24], true, {}),
      images: [
        [10, 6],
        [4, 12],
      ],
      video: { grid: [3, 8, 4], secondsPerGrid: 1 },
    },
    {
      config: qwen25Vl(text(128, 1, 1), [16, 24, 24], false, { fullatt_block_indexes: [0, 2] }),
      images: [
        [8, 8],
        [2, 2],
      ],
      video: { grid: [4, 4, 10], secondsPerGrid: 0.4 },
    },
    {
      config: qwen25Vl(text(192, 6, 2), [4, 6, 6], true, {
        hidden_size: 96,
        num_heads: 3,
        window_size: 56,
      }),
      images: [
        [6, 14],
        [12, 4],
      ],
      video: { grid: [2, 6, 6], secondsPerGrid: 2.5 },
    },
  ],
  qwen3_vl: [
    {
      config: qwen3Vl('qwen3_vl', text(80, 4, 2, { head_dim: 128 }), [24, 20, 20], true, {}),
      images: [
        [10, 6],
        [4, 12],
      ],
      video: { grid: [3, 8, 4] },
    },
    {
      config: qwen3Vl('qwen3_vl', text(256, 2, 1, { head_dim: 128 }), [24, 20, 20], false, {
        hidden_size: 144,
        deepstack_visual_indexes: [1, 2],
      }),
      images: [
        [2, 2],
        [6, 10],
      ],
      video: { grid: [2, 4, 6] },
    },
    {
      config: qwen3Vl('qwen3_vl', text(96, 3, 3, { head_dim: 64 }), [12, 10, 10], true, {
        depth: 3,
        num_position_embeddings: 256,
        deepstack_visual_indexes: [1],
      }),
      images: [
        [20, 6],
        [16, 16],
      ],
      video: { grid: [4, 2, 8] },
    },
  ],
  qwen3_vl_moe: [
    {
      // The router of the published ones: eight of 128.
      config: qwen3VlMoe(
        text(80, 4, 2, { head_dim: 128 }),
        { num_experts: 128, num_experts_per_tok: 8, moe_intermediate_size: 24 },
        [24, 20, 20],
        false,
        {},
      ),
      images: [
        [10, 6],
        [4, 12],
      ],
      video: { grid: [3, 8, 4] },
    },
    {
      // Every other layer dense, another one besides; heads of the size that follows from the width.
      config: qwen3VlMoe(
        text(256, 2, 1, { num_hidden_layers: 4 }),
        {
          num_experts: 5,
          num_experts_per_tok: 3,
          decoder_sparse_step: 2,
          mlp_only_layers: [3],
        },
        [24, 20, 20],
        true,
        { hidden_size: 144, deepstack_visual_indexes: [1, 2] },
      ),
      images: [
        [2, 2],
        [6, 10],
      ],
      video: { grid: [2, 4, 6] },
    },
    {
      // One expert a token, whose weight is then one; square matrices, which lie the same both ways.
      config: qwen3VlMoe(
        text(96, 3, 3, { head_dim: 64, num_hidden_layers: 3 }),
        { num_experts: 4, num_experts_per_tok: 1, mlp_only_layers: [0] },
        [12, 10, 10],
        false,
        { depth: 3, num_position_embeddings: 256, deepstack_visual_indexes: [1] },
      ),
      images: [
        [20, 6],
        [16, 16],
      ],
      video: { grid: [4, 2, 8] },
    },
  ],
  internvl: [
    {
      config: internvl({ model_type: 'qwen2', ...text(128, 2, 1) }, false, {}),
      ...tiled(4, 3, 1, 2),
    },
    {
      config: internvl(
        { model_type: 'qwen2', ...text(192, 3, 1, { num_hidden_layers: 3 }) },
        true,
        { image_size: [112, 112] },
      ),
      ...tiled(8, 1, 2, 3),
    },
    {
      // The tower of the largest: RMSNorm, normalized q and k, no bias; the decoder of InternVL 3.5.
      config: internvl({ model_type: 'qwen3', ...text(96, 2, 1, { head_dim: 128 }) }, false, {
        attention_bias: false,
        use_qk_norm: true,
        norm_type: 'rms_norm',
      }),
      ...tiled(4, 2, 5, 2),
    },
  ],
  idefics3: [
    {
      config: idefics3('idefics3', text(256, 2, 1, llama3), false, 2, {}),
      ...tiled(4, 3, 1, 2),
    },
    {
      config: idefics3('idefics3', text(128, 1, 1, llama3), true, 4, { image_size: 128 }),
      ...tiled(8, 1, 2, 3),
    },
    {
      // The tower of Idefics3-8B: 26 patches a side, heads of 72.
      config: idefics3('idefics3', text(128, 2, 2, llama3), false, 2, {
        hidden_size: 144,
        image_size: 364,
        patch_size: 14,
        num_hidden_layers: 1,
      }),
      ...tiled(26, 1, 1, 1),
    },
  ],
  smolvlm: [
    {
      // SmolVLM2-256M: nine heads of 64 with three of keys and values, units of 4 × 4.
      config: idefics3('smolvlm', text(576, 9, 3, { num_hidden_layers: 1 }), false, 4, {
        image_size: 128,
      }),
      ...tiled(8, 2, 1, 2),
    },
    {
      config: idefics3('smolvlm', text(192, 3, 1), true, 4, {}),
      ...tiled(4, 5, 3, 4),
    },
    {
      // SmolVLM2-2.2B: units of 3 × 3.
      config: idefics3('smolvlm', text(128, 2, 2), false, 3, { image_size: 126, patch_size: 14 }),
      ...tiled(9, 1, 3, 2),
    },
  ],
};
