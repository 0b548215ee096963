// Draws thin models and images at random, for comparisons with cases that nobody wrote down.
import { randomAt } from '@saccade/core';
import { makers } from './shapes.mjs';

const { idefics3, internvl, qwen25Vl, qwen3Vl, qwen3VlMoe, text, textOnly, tiled } = makers;

/** Draws from one random stream. */
function drawer(random) {
  const between = (low, high) => low + random.integer(high - low + 1);
  const pick = (list) => list[random.integer(list.length)];
  const flip = () => random.integer(2) === 1;
  /** Some of 0 … count − 1, in order. */
  const some = (count, most = count) =>
    random
      .shuffle(Array.from({ length: count }, (_, i) => i))
      .slice(0, between(0, most))
      .sort((a, b) => a - b);
  /** Heads, those of keys and values, and the width of a decoder. */
  const decoder = (headDims, more = {}) => {
    const kvHeads = between(1, 3);
    const heads = kvHeads * between(1, 3);
    const headDim = pick(headDims);
    const layers = between(1, 3);
    return { heads, kvHeads, headDim, layers, more };
  };
  /** Sections of half a head, each of at least one pair. */
  const sections = (pairs) => {
    const time = between(1, pairs - 2);
    const height = between(1, pairs - time - 1);
    return [time, height, pairs - time - height];
  };
  /** Grids in units of `merge` patches: two images and a video. */
  const grids = (merge, times) => {
    const side = () => merge * between(1, 9);
    return {
      images: [
        [side(), side()],
        [side(), side()],
      ],
      video: { grid: [between(1, 4), side(), side()], ...times() },
    };
  };
  return { between, pick, flip, some, decoder, sections, grids };
}

const shapeMakers = {
  qwen2: (draw) => {
    const { heads, kvHeads, headDim, layers } = draw.decoder([32, 64, 128]);
    const size = text(heads * headDim, heads, kvHeads, { num_hidden_layers: layers });
    return { config: textOnly('qwen2', size, draw.flip()) };
  },
  qwen3: (draw) => {
    const { heads, kvHeads, headDim, layers } = draw.decoder([32, 64, 128]);
    const more = { num_hidden_layers: layers, head_dim: headDim };
    return {
      config: textOnly('qwen3', text(16 * draw.between(2, 12), heads, kvHeads, more), draw.flip()),
    };
  },
  qwen2_5_vl: (draw) => {
    const { heads, kvHeads, headDim, layers } = draw.decoder([32, 64, 128]);
    const size = text(heads * headDim, heads, kvHeads, { num_hidden_layers: layers });
    const depth = draw.between(1, 4);
    const visionHeads = draw.between(1, 3);
    const config = qwen25Vl(size, draw.sections(headDim / 2), draw.flip(), {
      depth,
      num_heads: visionHeads,
      hidden_size: visionHeads * draw.pick([32, 64, 80]),
      fullatt_block_indexes: draw.some(depth),
      window_size: 28 * draw.between(1, 4),
      tokens_per_second: draw.between(1, 4),
    });
    return { config, ...draw.grids(2, () => ({ secondsPerGrid: draw.between(1, 8) / 4 })) };
  },
  qwen3_vl: (draw) => {
    const { size, section, vision } = qwen3Parts(draw);
    const config = qwen3Vl('qwen3_vl', size, section, draw.flip(), vision);
    return { config, ...draw.grids(2, () => ({})) };
  },
  qwen3_vl_moe: (draw) => {
    const { size, section, vision } = qwen3Parts(draw);
    const experts = draw.between(1, 40);
    const sparse = {
      num_experts: experts,
      num_experts_per_tok: draw.between(1, Math.min(experts, 9)),
      moe_intermediate_size: 8 * draw.between(1, 12),
      decoder_sparse_step: draw.between(1, 2),
      mlp_only_layers: draw.some(size.num_hidden_layers, 1),
    };
    const config = qwen3VlMoe(size, sparse, section, draw.flip(), vision);
    return { config, ...draw.grids(2, () => ({})) };
  },
  internvl: (draw) => {
    const { heads, kvHeads, headDim, layers } = draw.decoder([32, 64, 128]);
    const isNew = draw.flip();
    const size = text(heads * headDim, heads, kvHeads, {
      num_hidden_layers: layers,
      ...(isNew && { head_dim: headDim }),
    });
    const side = 2 * draw.between(1, 4);
    const visionHeads = draw.between(1, 3);
    const config = internvl({ model_type: isNew ? 'qwen3' : 'qwen2', ...size }, draw.flip(), {
      hidden_size: visionHeads * draw.pick([32, 64, 80]),
      num_attention_heads: visionHeads,
      num_hidden_layers: draw.between(1, 3),
      image_size: [14 * side, 14 * side],
      attention_bias: draw.flip(),
      use_qk_norm: draw.flip(),
      norm_type: draw.pick(['layer_norm', 'rms_norm']),
    });
    return { config, ...tiled(side, draw.between(1, 6), draw.between(1, 6), draw.between(1, 4)) };
  },
  idefics3: (draw) => tileShape('idefics3', draw),
  smolvlm: (draw) => tileShape('smolvlm', draw),
};

function qwen3Parts(draw) {
  const { heads, kvHeads, headDim, layers } = draw.decoder([32, 64, 128]);
  const depth = draw.between(1, 4);
  const visionHeads = draw.between(1, 3);
  return {
    size: text(16 * draw.between(2, 12), heads, kvHeads, {
      head_dim: headDim,
      num_hidden_layers: layers,
    }),
    // Interleaved sections of height and width may not be longer than a third and that of time.
    section: pickInterleaved(draw, headDim / 2),
    vision: {
      depth,
      num_heads: visionHeads,
      hidden_size: visionHeads * draw.pick([32, 64, 72]),
      num_position_embeddings: draw.between(3, 20) ** 2,
      deepstack_visual_indexes: draw.some(depth, layers),
    },
  };
}

function pickInterleaved(draw, pairs) {
  const side = draw.between(1, Math.floor(pairs / 3));
  const other = draw.between(1, Math.floor(pairs / 3));
  return [pairs - side - other, side, other];
}

function tileShape(type, draw) {
  const { heads, kvHeads, headDim, layers } = draw.decoder([32, 64, 128]);
  const size = text(heads * headDim, heads, kvHeads, { num_hidden_layers: layers });
  const scale = draw.between(1, 3);
  const side = scale * draw.between(1, 4);
  const patch = draw.pick([14, 16]);
  const visionHeads = draw.between(1, 3);
  const config = idefics3(type, size, draw.flip(), scale, {
    hidden_size: visionHeads * draw.pick([32, 64, 72]),
    num_attention_heads: visionHeads,
    num_hidden_layers: draw.between(1, 3),
    image_size: side * patch,
    patch_size: patch,
  });
  return { config, ...tiled(side, draw.between(1, 6), draw.between(1, 6), draw.between(1, 4)) };
}

/** `count` shapes of an architecture, the same for the same seed. */
export function randomShapes(architecture, count, seed) {
  return Array.from({ length: count }, (_, i) =>
    shapeMakers[architecture](drawer(randomAt(seed, 'parity shapes', architecture, i))),
  );
}
