/** What a processor does with images and videos, in text and in pixels. */
import type { ModelImage } from '../batch.ts';
import type { DecodedImage } from './decode-image.ts';
import type { VideoFrames } from './videos/frames.ts';

/** Text with control tokens in it, or one control token many times. */
export type Markup = string | { readonly token: string; readonly count: number };

/** How an image or a video stands in a text. */
export interface Placeholder {
  /** The token that takes a visual feature, once for each. */
  readonly token: string;
  /** The part of a rendered chat that is replaced by the expansion. */
  readonly rendered: string;
  /** An image in a text without turns: `rendered`, and what stands around it. */
  readonly markup: string;
}

/** What a processor does with images and videos. */
export interface Visuals {
  readonly image: Placeholder;
  /** Absent where the family has no videos. */
  readonly video?: Placeholder;
  /** Control tokens of the family, which no text may become, whatever the tokenizer says. */
  readonly markup: readonly string[];
  /** Most pixels of an image before it is decoded. */
  readonly maxSourcePixels?: number;
  /** The template of conversations with videos, where it is another one. */
  readonly videoTemplate?: string;
  prepareImage(image: DecodedImage): ModelImage;
  prepareVideo?(video: VideoFrames): ModelImage;
  /** What takes the place of an image in the text. */
  expand(image: ModelImage): readonly Markup[];
}
