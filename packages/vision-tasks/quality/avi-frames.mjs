/** The frames of a lossless AVI file of this project, as PNG files: the inverse of `encodeAvi`. */
export function framesOf(encoded) {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.length);
  const frames = [];
  let at = bytes.indexOf('movi') + 4;
  while (bytes.toString('latin1', at, at + 4) === '00dc') {
    const length = bytes.readUInt32LE(at + 4);
    frames.push(bytes.subarray(at + 8, at + 8 + length));
    at += 8 + length + (length % 2);
  }
  return frames;
}

/** The images of a task, or frames of its film at equal distances. */
export function imagesOf({ images, videos = [] }, most) {
  const [video] = videos;
  if (video === undefined) return images;
  const { encoded, width, height, frameCount } = video;
  const frames = framesOf(encoded);
  const count = Math.min(frameCount, most);
  return Array.from({ length: count }, (_, index) => {
    const png = frames[Math.floor(((index + 0.5) * frameCount) / count)];
    return { name: `frame_${index}`, png, width, height };
  });
}
