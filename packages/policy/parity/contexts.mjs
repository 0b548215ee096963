// What architectures are compared on: texts, images and videos with their placeholders, the usual
// ones and the unusual.
import { randomAt } from '@saccade/core';

/** Targets whose log-probs are compared, of every row. */
const TARGETS = 4;
const MERGED = ['qwen2_5_vl', 'qwen3_vl', 'qwen3_vl_moe'];

function between({ visionStartToken, visionEndToken }, pad, count) {
  return [visionStartToken, ...new Array(count).fill(pad), visionEndToken];
}

/** The marked placeholders of an image or a video, by how an architecture cuts and marks them. */
const markups = {
  merged: ({ grid: [grids, height, width], isVideo }, tokens) =>
    between(tokens, isVideo ? tokens.videoToken : tokens.imageToken, (grids * height * width) / 4),
  // Every moment between markers of its own, after its stamp.
  stamped: (image, tokens) => {
    const { grid, isVideo } = image;
    if (!isVideo) return markups.merged(image, tokens);
    const [grids, height, width] = grid;
    return Array.from({ length: grids }, (_, moment) => [
      30 + moment,
      ...between(tokens, tokens.videoToken, (height * width) / 4),
    ]).flat();
  },
  // All tiles between two markers, each frame between two of its own.
  tiled: ({ grid: [grids, height, width], scale, isVideo }, tokens) => {
    const count = (height * width) / scale ** 2;
    const spans = isVideo ? new Array(grids).fill(count) : [grids * count];
    return spans.flatMap((span) => between(tokens, tokens.imageToken, span));
  },
  // Each tile after a marker and its name, and a marker at the end.
  named: ({ grid: [grids, height, width], scale }, { visionStartToken, imageToken }) => {
    const pads = new Array((height * width) / scale ** 2).fill(imageToken);
    const tiles = Array.from({ length: grids }, (_, tile) => [
      visionStartToken,
      30 + tile,
      ...pads,
    ]);
    return [...tiles.flat(), visionStartToken];
  },
};

const markupOf = {
  qwen2_5_vl: markups.merged,
  qwen3_vl: markups.stamped,
  qwen3_vl_moe: markups.stamped,
  internvl: markups.tiled,
  idefics3: markups.named,
  smolvlm: markups.named,
};

/** Makes random images of a shape: `{ tokens, images }`, the tokens with the placeholders. */
function imageMaker({ config }, tokens) {
  const { vision_config: vision, model_type: type } = config;
  const scale = config.scale_factor ?? Math.round(1 / (config.downsample_ratio ?? 0.5));
  const { patch_size: sides, temporal_patch_size: frames = 1 } = vision;
  const side = [sides].flat()[0];
  return (id, grid, times) => {
    const [grids, height, width] = grid;
    const random = randomAt(2, 'parity image', id, ...grid);
    const length = grids * height * width * 3 * frames * side * side;
    const marked = markupOf[type]({ grid, scale, isVideo: times !== undefined }, tokens);
    const image = {
      patches: Float32Array.from({ length }, () => random.normal()),
      gridHeight: height,
      gridWidth: width,
      tokenCount: (grids * height * width) / scale ** 2,
      width: width * side,
      height: height * side,
      ...(grids > 1 && { grids }),
      ...(times && { video: { timestamps: [], ...times } }),
    };
    return { tokens: marked, images: [{ id, image }] };
  };
}

/** Texts of several lengths, or a text, one image, several, and a video. */
function usualParts(shape, tokens, words) {
  const { images: grids = [], video } = shape;
  if (video === undefined) return [3, 17, 64].map((count) => [`text of ${count}`, [words(count)]]);
  const make = imageMaker(shape, tokens);
  const [first, second] = grids.map((grid, i) =>
    make(`image-${i}`, grid.length === 2 ? [1, ...grid] : grid),
  );
  const { grid, ...times } = video;
  return [
    ['text', [words(17)]],
    ['image', [words(5), first, words(4)]],
    ['images', [words(2), first, second, words(3), first, words(6)]],
    ['video', [words(3), make('video', grid, times), words(5)]],
  ];
}

/** Two images of which only the first has a marker before it, and only the last one after it. */
function withoutMarkers(first, second, isPlaceholder) {
  const end = first.tokens.findLastIndex(isPlaceholder) + 1;
  const start = second.tokens.findIndex(isPlaceholder);
  return {
    tokens: [...first.tokens.slice(0, end), ...second.tokens.slice(start)],
    images: [...first.images, ...second.images],
  };
}

/**
 * Contexts at the limits of what may come: a part is marked `raises` where transformers refuses it,
 * and is compared with what its parts give when the placeholders are pointed out to it.
 */
function unusualParts(shape, tokens, words) {
  const { imageToken, videoToken, visionStartToken, visionEndToken } = tokens;
  const isMerged = MERGED.includes(shape.config.model_type);
  const make = imageMaker(shape, tokens);
  const sampled = [imageToken, 25, visionStartToken, imageToken, visionEndToken, videoToken, 26];
  const grid = (count, height, width) => (isMerged ? [1, height, width] : [count, 2, 2]);
  const a = make('a', grid(3, 10, 14));
  const b = make('b', grid(1, 22, 6));
  const video = (id, frames, seconds) =>
    make(id, isMerged ? [frames, 6, 4] : [frames, 2, 2], { secondsPerGrid: seconds });
  const small = Array.from({ length: 40 }, (_, i) =>
    make(`small-${i}`, grid(1 + (i % 3), 2 + 2 * (i % 3), 2 + 2 * (i % 2))),
  );
  return [
    ['sampled placeholders without an image', [words(4), sampled, words(3)]],
    ['sampled placeholders', [words(4), a, words(3), sampled, words(2)], 'raises'],
    [
      'images without markers between them',
      [words(2), withoutMarkers(a, b, (id) => id === imageToken), words(4)],
      isMerged && 'raises',
    ],
    ['an image of one unit', [words(2), make('unit', grid(1, 2, 2)), words(2)]],
    ['a wide strip', [words(2), make('wide', grid(13, 2, 400)), words(2)]],
    ['a high strip', [words(2), make('high', grid(13, 400, 2)), words(2)]],
    ['odd grids', [a, words(1), b, words(2), make('c', grid(4, 54, 10)), words(1)]],
    ['a video of one moment', [words(3), video('still', 1, 1), words(3)]],
    [
      'videos and images',
      [words(3), video('v', 3, 1.5), a, words(1), video('w', 4, 0.3), b, words(3)],
    ],
    ['40 images', [words(1), ...small, words(3)]],
  ];
}

/**
 * The contexts of a model: tokens and images, and rows, targets and weights of the log-probs whose
 * weighted sum is differentiated. `isPlaceholder` says which tokens stand for a part of an image.
 *
 * @param tokens  ids of the vision markup
 */
export function contextsOf(shape, model, tokens, { isUnusual }) {
  const random = randomAt(1, 'parity contexts', model.architecture);
  const words = (count) => Array.from({ length: count }, () => 20 + random.integer(280));
  const parts = isUnusual ? unusualParts : usualParts;
  const pads = [tokens.imageToken, tokens.videoToken];
  return parts(shape, tokens, words).map(([name, list, raises], index) => {
    const ids = list.flatMap((part) => part.tokens ?? part);
    const rows = Array.from({ length: ids.length * TARGETS }, (_, i) => Math.floor(i / TARGETS));
    return {
      id: `context-${index}`,
      name,
      raises: raises === 'raises',
      tokens: Int32Array.from(ids),
      isPlaceholder: list.flatMap((part) =>
        (part.tokens ?? part).map((id) => part.tokens !== undefined && pads.includes(id)),
      ),
      images: list.flatMap((part) => part.images ?? []),
      rows,
      targets: rows.map(() => random.integer(model.vocabSize)),
      weights: rows.map(() => random.normal()),
    };
  });
}
