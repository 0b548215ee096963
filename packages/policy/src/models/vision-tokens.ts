/** Ids of vision markup in `config.json`, as the Qwen-VL families name them. */
import { type Json, readCount } from './config-fields.ts';
import type { SpecialTokens } from './model-size.ts';

/** @throws ConfigError naming the field that is missing */
export function parseVisionTokens(json: Json): SpecialTokens {
  return {
    imageToken: readCount(json, 'image_token_id', { least: 0 }),
    visionStartToken: readCount(json, 'vision_start_token_id', { least: 0 }),
    visionEndToken: readCount(json, 'vision_end_token_id', { least: 0 }),
    videoToken: readCount(json, 'video_token_id', { least: -1, fallback: -1 }),
  };
}

export function formatVisionTokens(tokens: SpecialTokens): Json {
  return {
    image_token_id: tokens.imageToken,
    video_token_id: tokens.videoToken,
    vision_start_token_id: tokens.visionStartToken,
    vision_end_token_id: tokens.visionEndToken,
  };
}
