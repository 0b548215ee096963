/** What a conversation is made of, before and after it is tokenized. */
import type { ModelImage } from './batch.ts';

/** Text and images in order of appearance. */
export type ContentPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly image: ModelImage };

/** Content as tokens, with the images of its placeholders. */
export interface EncodedContent {
  /** [T] token ids; an image is `tokenCount` placeholders between its markers. */
  readonly tokens: Int32Array;
  /** The images in order of their placeholders. */
  readonly images: readonly ModelImage[];
}
