/** A video that is drawn instead of read, with the reader's interface that the protocol promises. */
import type { TaskVideo } from './task.ts';

export const drawnVideo: TaskVideo = {
  name: 'video_clue_0',
  path: 'drawn',
  width: 160,
  height: 120,
  framesPerSecond: 2,
  frameCount: 12,
};

/** Frame i is a grey of 20·i. */
export function drawnVideos(videos: readonly TaskVideo[]): string {
  const readers = videos.map(({ name, width, height, framesPerSecond, frameCount }) => {
    return `${name} = VideoReader(${width}, ${height}, ${framesPerSecond}, ${frameCount})`;
  });
  return `class _Frame:
    def __init__(self, array): self._array = array
    def asnumpy(self): return self._array
class VideoReader:
    def __init__(self, width, height, fps, count):
        self._frames = [np.full((height, width, 3), 20 * i, np.uint8) for i in range(count)]
        self._fps = fps
    def __len__(self): return len(self._frames)
    def __getitem__(self, i): return _Frame(self._frames[i])
    def get_avg_fps(self): return self._fps
${readers.join('\n')}`;
}
