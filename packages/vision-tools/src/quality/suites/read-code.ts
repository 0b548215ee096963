/** QR codes on photographs, turned and seen at an angle, and barcodes. */
import { z } from 'zod';
import {
  asImages,
  boxedLines,
  type Draw,
  type QualityCase,
  type QualitySuite,
} from '../quality.ts';

export const readCode: QualitySuite = {
  tool: 'read_code',
  backing: 'QR and barcode detectors of OpenCV 5 (Apache-2.0); no weights',
  async cases(draw) {
    const seeds = Array.from({ length: 50 }, (_, index) => 1000 + index);
    const bars = seeds.slice(0, 10).map((seed) => barcodeCase(draw, seed));
    return await Promise.all([...seeds.map((seed) => codeCase(draw, seed)), ...bars]);
  },
};

async function codeCase(draw: Draw, seed: number): Promise<QualityCase> {
  const texts = [`https://example.org/item/${seed}`, `lot ${seed * 7}`].slice(0, 1 + (seed % 2));
  return {
    name: `codes ${seed}`,
    images: asImages(await draw('draw_code', { seed, texts })),
    given: {},
    score({ stdout }) {
      const read = boxedLines(stdout, '\n').map(({ text }) => text.replace(/^QR code: /, ''));
      const right = texts.filter((text) => read.includes(text));
      return { 'QR codes': right.length / texts.length };
    },
  };
}

async function barcodeCase(draw: Draw, seed: number): Promise<QualityCase> {
  const drawn = await draw('draw_barcode', { seed });
  const { text } = z.object({ text: z.string() }).parse(drawn.result);
  return {
    name: `barcode ${seed}`,
    images: asImages(drawn),
    given: {},
    // An EAN-13 that begins with 0 is a UPC-A of 12 digits.
    score: ({ stdout }) => ({
      barcodes: Number(stdout.includes(`: ${text.replace(/^0/, '')} [`)),
    }),
  };
}
