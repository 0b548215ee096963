/** Images as square tiles, which stand for tokens at consecutive positions: InternVL and Idefics3. */
import type { ModelImage } from '../batch.ts';
import { betweenMarkers, gridCount } from './image-markup.ts';
import type { LanguageModel } from './language-model.ts';
import type { SpecialTokens } from './model-size.ts';
import { countImages, type ImageMarkup, placeTokens } from './positions.ts';

type Placing = Pick<LanguageModel, 'place' | 'countImages'>;

function placing(markup: ImageMarkup): Placing {
  return {
    place: (tokens, images, start) => placeTokens(tokens, images, start, markup),
    countImages: (tokens, images) => countImages(tokens, images, markup),
  };
}

/** Placeholders of each grid of an image apart. */
function runPerGrid(image: ModelImage): readonly number[] {
  const count = gridCount(image);
  return new Array(count).fill(image.tokenCount / count);
}

/** All tiles of an image between one pair of markers, each frame of a video between a pair of its own. */
export function placeMarkedImages(tokens: SpecialTokens): Placing {
  return placing({
    runs: (image) => (image.video === undefined ? [image.tokenCount] : runPerGrid(image)),
    // Frames have the placeholders of images.
    ...betweenMarkers({ ...tokens, videoToken: tokens.imageToken }),
  });
}

/** Tokens that may stand between the marker before a tile and its placeholders: the tile's name. */
const LONGEST_NAME = 16;

/**
 * Each tile after a marker and its name, of which some tokenizers make several tokens; what follows
 * is the next marker, or a line break.
 */
export function placeNamedTiles({ imageToken, visionStartToken }: SpecialTokens): Placing {
  return placing({
    runs: runPerGrid,
    placeholder: () => imageToken,
    opens(tokens, start) {
      for (let i = start - 1; i >= Math.max(0, start - 1 - LONGEST_NAME); i--) {
        if (tokens[i] === visionStartToken) return i < start - 1;
        if (tokens[i] === imageToken) return false;
      }
      return false;
    },
    closes: (tokens, end) => end < tokens.length && tokens[end] !== imageToken,
  });
}
