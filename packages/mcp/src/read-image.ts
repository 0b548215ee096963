/** An image that somebody sends as PNG, JPEG, WebP or GIF: checked before it is decoded. */
import type { CapturedImage } from '@saccade/sandbox';

export interface ImageLimits {
  /** Encoded. */
  readonly maxBytes: number;
  /** Width times height. */
  readonly maxPixels: number;
  /** Longest over shortest side. */
  readonly maxAspect: number;
}

/** As the sandbox has them. */
export const imageLimits: ImageLimits = {
  maxBytes: 24 * 2 ** 20,
  maxPixels: 16 * 2 ** 20,
  maxAspect: 200,
};

/** The image, or a word on why it is none that can be used. */
export type ReadImage = CapturedImage | { readonly problem: string };

/** Decoders that are let near what others send; SVG can name files and is none of them. */
const formats: readonly unknown[] = ['png', 'jpeg', 'webp', 'gif'];

/** The image of base64 text, also as a data URL; white space in it is passed over. */
export async function readBase64Image(text: string, limits = imageLimits): Promise<ReadImage> {
  if (text.length > (limits.maxBytes * 4) / 3 + 1024) return tooLarge(limits);
  const data = text.replace(/^data:[\w/+.-]*;base64,/, '').replace(/\s/g, '');
  if (data === '' || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(data)) return { problem: 'it is no base64' };
  return await readImage(Buffer.from(data, 'base64'), limits);
}

/** 8-bit RGB, transparency laid on white, turned as its EXIF says; the first frame of several. */
export async function readImage(bytes: Uint8Array, limits = imageLimits): Promise<ReadImage> {
  const { default: sharp } = await import('sharp');
  if (bytes.byteLength > limits.maxBytes) return tooLarge(limits);
  try {
    const options = { limitInputPixels: limits.maxPixels, failOn: 'error', pages: 1 } as const;
    const { format, width, height } = await sharp(bytes, {
      ...options,
      limitInputPixels: false,
    }).metadata();
    if (!formats.includes(format)) return { problem: `it is ${format ?? 'no image'}` };
    if (width * height > limits.maxPixels) {
      return { problem: `it has ${width} x ${height} pixels, more than ${limits.maxPixels}` };
    }
    if (Math.max(width, height) > limits.maxAspect * Math.min(width, height)) {
      return { problem: `it has ${width} x ${height} pixels, which is too narrow` };
    }
    const { data, info } = await sharp(bytes, options)
      .autoOrient()
      .flatten({ background: '#ffffff' })
      .toColorspace('srgb')
      .removeAlpha()
      .png()
      .toBuffer({ resolveWithObject: true });
    return { png: data, width: info.width, height: info.height, source: 'image' };
  } catch {
    return { problem: 'it cannot be decoded' };
  }
}

function tooLarge({ maxBytes }: ImageLimits): ReadImage {
  return { problem: `it has more than ${maxBytes} bytes` };
}
