// Thin models with the head sizes, sections, windows and levels of published ones: `config.json` of

// each, and the sizes of the images they are compared on.
import { randomAt } from '@saccade/core';

const VOCABULARY = 320;
/** Ids of the vision markup, as the tokenizer of the check numbers it. */
export const idsOf = ({ imageToken, videoToken, visionStartToken, visionEndToken }) => ({
  image_token_id: imageToken,
  video_token_id: videoToken,
  vision_start_token_id: visionStartToken,
  vision_end_token_id: visionEndToken,
});

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

/** The marked placeholders of images, by how an architecture cuts and marks them. */
const markups = {
  merged: ({ grid: [grids, height, width] }, tokens, isVideo) => {
    const pad = isVideo ? tokens.videoToken : tokens.imageToken;
    const count = (grids * height * width) / 4;
    return { count, tokens: between(tokens, pad, count) };
  },
  // Every moment between markers of its own, after its stamp.
  stamped: ({ grid: [grids, height, width] }, tokens, isVideo) => {
    if (!isVideo) return markups.merged({ grid: [grids, height, width] }, tokens, false);
    const count = (height * width) / 4;
    const moments = Array.from({ length: grids }, (_, moment) => [
      30 + moment,
      ...between(tokens, tokens.videoToken, count),
    ]);
    return { count: grids * count, tokens: moments.flat() };
  },
  // All tiles between two markers, each frame between two of its own.
  tiled: ({ grid: [grids, height, width], scale }, tokens, isVideo) => {
    const count = (height * width) / scale ** 2;
    const spans = isVideo ? new Array(grids).fill(count) : [grids * count];
    const marked = spans.flatMap((span) => between(tokens, tokens.imageToken, span));
    return { count: grids * count, tokens: marked };
  },
  // Each tile after a marker and its name, and a marker at the end.
  named: ({ grid: [grids, height, width], scale }, tokens) => {
    const { visionStartToken, imageToken } = tokens;
    const count = (height * width) / scale ** 2;
    const pads = new Array(count).fill(imageToken);
    const tiles = Array.from({ length: grids }, (_, tile) => [
      visionStartToken,
      30 + tile,
      ...pads,
    ]);
    return { count: grids * count, tokens: [...tiles.flat(), visionStartToken] };
  },
};

const markupOf = {
  qwen2_5_vl: markups.merged,
  qwen3_vl: markups.stamped,
  internvl: markups.tiled,
  idefics3: markups.named,
  smolvlm: markups.named,
};

function between({ visionStartToken, visionEndToken }, pad, count) {
  return [visionStartToken, ...new Array(count).fill(pad), visionEndToken];
}

/**
 * Random images and a video of a shape, each with its placeholders: `{ tokens, images }`.
 *
 * @param tokens  ids of the vision markup
 */
export function imagesOf({ config, images = [], video }, tokens) {
  const { vision_config: vision, model_type: type } = config;
  if (vision === undefined) return {};
  const mark = markupOf[type];
  const scale = config.scale_factor ?? Math.round(1 / (config.downsample_ratio ?? 1));
  const make = (id, grid, times) => {
    const [grids, height, width] = grid;
    const random = randomAt(2, 'parity image', id, ...grid);
    const { patch_size: sides, temporal_patch_size: frames = 1 } = vision;
    const side = [sides].flat()[0];
    const length = grids * height * width * 3 * frames * side * side;
    const { count, tokens: marked } = mark({ grid, scale }, tokens, times !== undefined);
    const image = {
      patches: Float32Array.from({ length }, () => random.normal()),
      gridHeight: height,
      gridWidth: width,
      tokenCount: count,
      width: width * side,
      height: height * side,
      ...(grids > 1 && { grids }),
      ...(times && { video: times }),
    };
    return { tokens: marked, images: [{ id, image }] };
  };
  const { secondsPerGrid } = video;
  const times = { timestamps: [], ...(secondsPerGrid !== undefined && { secondsPerGrid }) };
  return {
    images: images.map((grid, i) => make(`image-${i}`, grid.length === 2 ? [1, ...grid] : grid)),
    video: [make('video', video.grid, times)],
  };
}
