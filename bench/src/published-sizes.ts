/** Sizes of published models: what checkpoints of random weights and rows of layers are made of. */

export interface QwenSizes {
  readonly vocabulary: number;
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly intermediate: number;
  readonly mropeSection: readonly [number, number, number];
  /** Whether the head is the table of embeddings. */
  readonly isTied: boolean;
  readonly vision: {
    readonly depth: number;
    readonly hidden: number;
    readonly heads: number;
    readonly intermediate: number;
    readonly fullAttentionBlocks: readonly number[];
  };
}

/** The vision tower of both. */
const vision: QwenSizes['vision'] = {
  depth: 32,
  hidden: 1280,
  heads: 16,
  intermediate: 3420,
  fullAttentionBlocks: [7, 15, 23, 31],
};

/** Qwen2.5-VL-3B-Instruct: 3.75 billion parameters, 0.67 of them the vision tower's. */
export const qwen3b: QwenSizes = {
  vocabulary: 151_936,
  hidden: 2048,
  layers: 36,
  heads: 16,
  kvHeads: 2,
  intermediate: 11_008,
  mropeSection: [16, 24, 24],
  isTied: true,
  vision,
};

/** Qwen2.5-VL-7B-Instruct: 8.29 billion parameters. */
export const qwen7b: QwenSizes = {
  vocabulary: 152_064,
  hidden: 3584,
  layers: 28,
  heads: 28,
  kvHeads: 4,
  intermediate: 18_944,
  mropeSection: [16, 24, 24],
  isTied: false,
  vision,
};

/** The models by the names that commands take. */
export const publishedSizes: ReadonlyMap<string, QwenSizes> = new Map([
  ['3b', qwen3b],
  ['7b', qwen7b],
]);
