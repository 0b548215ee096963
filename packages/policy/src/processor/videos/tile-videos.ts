/** Videos of families that see each frame as one tile: InternVL and SmolVLM. */
import type { ModelImage } from '../../batch.ts';
import { sizeByLongestSide } from '../images/idefics3-images.ts';
import { DEFAULT_RESAMPLING } from '../images/pixel-values.ts';
import { type TileConfig, type TileSize, tilePatches, wholeTile } from '../images/tiles.ts';
import { resize } from '../resample/resize.ts';
import { checkFrames, timesOf, type VideoFrames } from './frames.ts';

/** How frames are resized. */
export interface TileVideos extends TileConfig {
  /** Size of a frame for the tower, pixels. */
  readonly tile: TileSize;
  /** Longest side that frames are resized to before; absent: at once to the tile. */
  readonly longestSide?: number;
}

/** Each frame as one tile. */
export function tileVideo(video: VideoFrames, config: TileVideos): ModelImage {
  const first = checkFrames(video);
  const { tile, longestSide, resampling = DEFAULT_RESAMPLING } = config;
  const between = longestSide === undefined ? undefined : sizeByLongestSide(first, longestSide);
  const frames = video.frames.map((frame) => {
    const resized = between ? resize(frame, between.width, between.height, resampling) : frame;
    return resize(resized, tile.width, tile.height, resampling);
  });
  return { ...tilePatches(frames.map(wholeTile), tile, config), ...tile, video: timesOf(video) };
}
