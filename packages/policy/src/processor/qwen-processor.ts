/** The processor of the Qwen2-VL family: chat template, text codec, image and video processor. */
import type { SpecialTokens } from '../models/model-size.ts';
import { chatTemplate } from './chat-template.ts';
import { CheckpointProcessor, type ProcessorOptions } from './checkpoint-processor.ts';
import { formatQwenImages } from './families/qwen-files.ts';
import { plainVideo, qwenVisuals } from './families/qwen-visuals.ts';
import type { ImageProcessorConfig } from './image-processor.ts';
import type { Json } from './json-fields.ts';
import { ownFiles } from './own-files.ts';
import type { ProcessorFiles } from './processor-files.ts';
import { type QwenVideos, qwen2Video, qwenVideoProcessor } from './videos/qwen-videos.ts';
import type { Visuals } from './visuals.ts';

/** What a processor of Qwen is made of, where it is not the default. */
export interface QwenProcessorOptions extends ProcessorOptions {
  /** The files that it was read from. */
  readonly files?: ProcessorFiles;
  /** What its family does with images and videos; default: as Qwen2.5-VL. */
  readonly visuals?: Visuals;
}

/**
 * Tokenizer, chat markup and image processor of Qwen2-VL and its successors. Text never becomes a
 * control token, so a prompt cannot forge a turn.
 */
export class QwenProcessor extends CheckpointProcessor {
  readonly images: ImageProcessorConfig;
  readonly tokens: SpecialTokens;

  /** @throws DataError if the tokenizer is damaged or lacks a token of the chat format */
  constructor(
    tokenizerJson: Json,
    images: ImageProcessorConfig,
    options: QwenProcessorOptions = {},
  ) {
    const video: QwenVideos = { ...qwenVideoProcessor, ...images };
    super(
      options.files ??
        ownFiles({
          tokenizer: tokenizerJson,
          endOfTurn: '<|im_end|>',
          chatTemplate,
          processor: {},
          images: formatQwenImages(images),
          config: {},
        }),
      options.visuals ??
        qwenVisuals(images, { prepare: (frames) => qwen2Video(frames, video), expand: plainVideo }),
      options,
    );
    this.images = images;
    this.tokens = {
      imageToken: this.codec.markup('<|image_pad|>'),
      videoToken: this.codec.markup('<|video_pad|>'),
      visionStartToken: this.codec.markup('<|vision_start|>'),
      visionEndToken: this.codec.markup('<|vision_end|>'),
    };
  }
}
