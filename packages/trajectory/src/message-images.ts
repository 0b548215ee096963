/** The images of chat messages, as images of a trajectory. */
import { DataError } from '@saccade/core';
import type { Message, MessagePart } from './messages.ts';
import type { TrajectoryImage } from './trajectory.ts';

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/**
 * The images of a message, in order, each with one placeholder token.
 *
 * @param before how many images came before it; names without one go on from there
 * @param where names the message in errors, e.g. `messages[2]`
 * @throws DataError if one is no PNG
 */
export function messageImages(
  { content }: Message,
  before: number,
  where: string,
): readonly TrajectoryImage[] {
  if (content === null || content === undefined || typeof content === 'string') return [];
  const parts = content.filter((part) => part.type !== 'text');
  return parts.map((part, index) => {
    const png = bytesOf(part, where);
    const { width, height } = pngSize(png, where);
    return {
      ...{ name: part.name ?? `image_${before + index}`, png, width, height },
      ...{ modelWidth: width, modelHeight: height, tokenCount: 1 },
      ...(part.origin && { origin: part.origin }),
    };
  });
}

function bytesOf(part: Exclude<MessagePart, { type: 'text' }>, where: string): Uint8Array {
  if (part.type === 'image') return part.image;
  const url = part.image_url.url;
  const [head, base64] = url.split(',', 2);
  if (head !== 'data:image/png;base64' || base64 === undefined) {
    throw new DataError(
      `${where}: an image is at "${url.slice(0, 40)}", expected data:image/png;base64,…. ` +
        'Load it and send it as a PNG.',
    );
  }
  return decodeBase64(base64, where);
}

function decodeBase64(base64: string, where: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch (cause) {
    throw new DataError(`${where}: the data URL of an image is not base64.`, { cause });
  }
}

/** Width and height from the header. */
function pngSize(png: Uint8Array, where: string): { width: number; height: number } {
  if (png.length < 24 || SIGNATURE.some((byte, index) => png[index] !== byte)) {
    throw new DataError(
      `${where}: an image is no PNG. Convert it, e.g. with sharp(bytes).png().toBuffer().`,
    );
  }
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  return { width: view.getUint32(16), height: view.getUint32(20) };
}
