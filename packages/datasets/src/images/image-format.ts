/** The format and the size of an encoded image, by its first bytes alone. */

/** Formats that are decoded. */
export type ImageFormat = 'png' | 'jpeg' | 'webp' | 'gif';

/** What the bytes are: a format that is decoded, another that has a name, or nothing known. */
export type FoundFormat =
  | { readonly format: ImageFormat }
  | { readonly refused: string; readonly remedy: string };

const CONVERT = 'Convert it to PNG or JPEG.';

/** True of a file that may be an image, by its name. */
export function isImageName(name: string): boolean {
  return /\.(png|jpe?g|webp|gif|heic|heif|avif|bmp|tiff?)$/i.test(name);
}

/** The format of an encoded image. */
export function formatOf(bytes: Uint8Array): FoundFormat {
  const text = (at: number, length: number): string =>
    String.fromCharCode(...bytes.subarray(at, at + length));
  if (text(0, 8) === '\x89PNG\r\n\x1a\n') return { format: 'png' };
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return { format: 'jpeg' };
  if (text(0, 4) === 'RIFF' && text(8, 4) === 'WEBP') return { format: 'webp' };
  if (/^GIF8[79]a$/.test(text(0, 6))) return { format: 'gif' };
  if (text(4, 4) === 'ftyp') {
    const brand = text(8, 4);
    if (brand === 'avif' || brand === 'avis') return { refused: 'AVIF', remedy: CONVERT };
    if (/^(hei[cxms]|hev[cxms]|mif1|msf1)$/.test(brand)) {
      return {
        refused: 'HEIC, whose decoder is under patents and not built in',
        remedy: 'Convert it to JPEG, for example with heif-convert.',
      };
    }
  }
  if (text(0, 2) === 'BM') return { refused: 'BMP', remedy: CONVERT };
  if (/^(II\*\0|MM\0\*)$/.test(text(0, 4))) return { refused: 'TIFF', remedy: CONVERT };
  if (/^\s*<(\?xml|svg|!DOCTYPE)/i.test(text(0, 64))) return { refused: 'SVG', remedy: CONVERT };
  if (bytes.length === 0) return { refused: 'empty', remedy: 'Check how it was written.' };
  return { refused: 'of no known format', remedy: 'Give PNG, JPEG, WebP or GIF.' };
}
