import { describe, expect, it } from 'vitest';
import { readModel } from '../architecture-registry.ts';
import type { Json } from '../models/config-fields.ts';
import { nanoSize } from '../models/model-size.ts';
import { nanoConfig, qwen2_5_vl } from './qwen2_5_vl.ts';
import { qwen3_vl } from './qwen3_vl.ts';

const tokens = { imageToken: 40, videoToken: 41, visionStartToken: 42, visionEndToken: 43 };

describe('qwen2_5_vl', () => {
  it('reads the config.json that its model writes', () => {
    for (const isTied of [true, false]) {
      const config = { ...nanoConfig(512, tokens), isTied };
      expect(qwen2_5_vl.parse(qwen2_5_vl.model(config).configJson(2))).toEqual(config);
    }
  });

  // config.json of Qwen/Qwen2.5-VL-3B-Instruct: text fields at the top, the older rope fields.
  it('reads the layout of the published 3B checkpoint', () => {
    const published = {
      architectures: ['Qwen2_5_VLForConditionalGeneration'],
      vision_start_token_id: 151652,
      vision_end_token_id: 151653,
      image_token_id: 151655,
      video_token_id: 151656,
      hidden_act: 'silu',
      hidden_size: 2048,
      intermediate_size: 11008,
      max_position_embeddings: 128000,
      max_window_layers: 70,
      model_type: 'qwen2_5_vl',
      num_attention_heads: 16,
      num_hidden_layers: 36,
      num_key_value_heads: 2,
      rms_norm_eps: 1e-6,
      rope_theta: 1000000.0,
      sliding_window: 32768,
      tie_word_embeddings: true,
      use_sliding_window: false,
      vision_config: {
        depth: 32,
        hidden_act: 'silu',
        hidden_size: 1280,
        intermediate_size: 3420,
        num_heads: 16,
        in_chans: 3,
        out_hidden_size: 2048,
        patch_size: 14,
        spatial_merge_size: 2,
        spatial_patch_size: 14,
        window_size: 112,
        fullatt_block_indexes: [7, 15, 23, 31],
        tokens_per_second: 2,
        temporal_patch_size: 2,
      },
      rope_scaling: { type: 'mrope', mrope_section: [16, 24, 24] },
      vocab_size: 151936,
    };
    expect(qwen2_5_vl.parse(published)).toMatchObject({
      vocabSize: 151936,
      hidden: 2048,
      layers: 36,
      kvHeads: 2,
      ropeTheta: 1e6,
      mropeSection: [16, 24, 24],
      isTied: true,
      vision: { depth: 32, hidden: 1280, fullAttentionBlocks: [7, 15, 23, 31] },
    });
  });

  // Qwen2_5_VLTextConfig and Qwen2_5_VLConfig of transformers 5.18.
  it('fills in what a configuration leaves out, and ties where either part says so', () => {
    const without = ({ text_config: text, ...rest }: Json): Json => {
      const { rms_norm_eps: _, rope_parameters: rope, ...fields } = text as Json;
      const { rope_theta: __, ...sections } = rope as Json;
      const nested = { ...fields, rope_parameters: sections, tie_word_embeddings: true };
      return { ...rest, tie_word_embeddings: false, text_config: nested };
    };
    const json = without(qwen2_5_vl.model(nanoConfig(512, tokens)).configJson(2));
    expect(qwen2_5_vl.parse(json)).toMatchObject({ eps: 1e-5, ropeTheta: 1e6, isTied: true });
    const qwen3 = qwen3_vl.model(qwen3_vl.nano(512, tokens, nanoSize)).configJson(2);
    expect(qwen3_vl.parse(without(qwen3))).toMatchObject({ eps: 1e-6, ropeTheta: 5e5 });
  });

  it('names the field that is missing or of the wrong kind', () => {
    expect(() => readModel({ model_type: 'bert' })).toThrow(
      /^model_type must be one of .*qwen2_5_vl.*; got "bert"\./,
    );
    const { text_config: text, ...rest } = qwen2_5_vl.model(nanoConfig(512, tokens)).configJson(2);
    const broken = { ...rest, text_config: { ...(text as object), hidden_size: 'wide' } };
    expect(() => readModel(broken)).toThrow(
      'hidden_size must be a whole number from 1 to 16777216, got "wide".',
    );
  });
});

describe('nanoConfig', () => {
  it('turns a quarter of the rotary pairs by time, as published models do, at any size', () => {
    // Qwen2.5-VL-3B: 2048 wide with 16 heads has the sections 16, 24 and 24.
    const large = { ...nanoSize, hidden: 2048, heads: 16 };
    expect(nanoConfig(512, tokens, large).mropeSection).toEqual([16, 24, 24]);
    expect(nanoConfig(512, tokens).mropeSection).toEqual([4, 6, 6]);
    for (const hidden of [16, 48, 160, 512]) {
      const { mropeSection } = nanoConfig(512, tokens, { ...nanoSize, hidden });
      expect(mropeSection.reduce((sum, pairs) => sum + pairs, 0)).toBe(hidden / 4 / 2);
    }
    const deep = nanoConfig(512, tokens, { ...nanoSize, visionLayers: 5 });
    expect(deep.vision.fullAttentionBlocks).toEqual([0, 1, 2, 3, 4]);
  });

  it.each([
    ['heads', { heads: 3 }],
    ['heads', { hidden: 24 }],
    ['kvHeads', { kvHeads: 3 }],
    ['visionHeads', { visionHeads: 5 }],
  ])('refuses %s that do not divide what they share', (field, change) => {
    expect(() => nanoConfig(512, tokens, { ...nanoSize, ...change })).toThrow(
      new RegExp(`model\\.${field}: expected a number that divides`),
    );
  });
});
