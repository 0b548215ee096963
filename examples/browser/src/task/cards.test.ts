import { randomAt } from '@saccade/core';
import { prepareImage } from '@saccade/policy';
import { describe, expect, it } from 'vitest';
import { imageConfig } from '../training/image-config.ts';
import { cardsTask, cellBox, factsOf } from './cards.ts';
import { drawTable, putCard } from './draw-table.ts';
import { cutOut, decodePng, encodePng, type PixelImage } from './pixel-image.ts';
import { type CardSymbol, symbols } from './symbols.ts';

const options = { cells: 4, cards: 2, symbols: 4 };

/** The same table and card, with another symbol on it. */
function tableWith(symbol: CardSymbol | undefined): PixelImage {
  const random = randomAt(1, 'table');
  const table = drawTable(4, random);
  putCard(table, cellBox(5, 4), symbol, random);
  return table;
}

/** As the model is given it, in grey levels of one of 255. */
async function seen(image: PixelImage): Promise<Float32Array> {
  const { patches } = await prepareImage(encodePng(image), {
    ...imageConfig(options),
    mean: [0, 0, 0],
    std: [1, 1, 1],
  });
  return patches.map((value) => value * 255);
}

function meanDifference(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + Math.abs(value - (b[i] ?? 0)), 0) / a.length;
}

describe('a card', () => {
  it.each(symbols)('hides $name from an overview and shows it in a crop', async (symbol) => {
    const [blank, card] = [tableWith(undefined), tableWith(symbol)];
    const overview = meanDifference(await seen(blank), await seen(card));
    const box = cellBox(5, 4);
    const crop = meanDifference(await seen(cutOut(blank, box)), await seen(cutOut(card, box)));
    // A card is a sixteenth of the table; the texture of ±14 grey levels has a mean size of 7.
    expect(overview * 16).toBeLessThan(3.5);
    expect(crop).toBeGreaterThan(7);
  });

  it('looks different with every symbol', async () => {
    const crops = await Promise.all(
      symbols.map((symbol) => seen(cutOut(tableWith(symbol), cellBox(5, 4)))),
    );
    crops.forEach((one, i) => {
      for (const other of crops.slice(i + 1)) expect(meanDifference(one, other)).toBeGreaterThan(5);
    });
  });
});

describe('a task', () => {
  it('is the same for the same index, and another for another index or split', () => {
    const task = cardsTask(options, 'train', 3);
    expect(cardsTask(options, 'train', 3)).toEqual(task);
    expect(cardsTask(options, 'train', 4)).not.toEqual(task);
    expect(cardsTask(options, 'heldOut', 3).images).not.toEqual(task.images);
  });

  it('has its symbol on one of its cards', () => {
    for (let index = 0; index < 20; index++) {
      const task = cardsTask(options, 'train', index);
      const { box, cards } = factsOf(task);
      expect(cards).toHaveLength(2);
      expect(cards).toContainEqual(box);
      expect(symbols.slice(0, 4).map(({ name }) => name)).toContain(task.answer);
      const image = decodePng(task.images[0]?.png ?? new Uint8Array());
      const contrast = cards.map((card) => fineContrast(cutOut(image, card)));
      const shown = cards.findIndex((card) => card.join() === box.join());
      expect(contrast[shown]).toBeGreaterThan(10);
      expect(contrast[1 - shown]).toBeLessThan(10);
    }
  });
});

/** Mean difference of red between a pixel and the next. */
function fineContrast({ pixels, width, height }: PixelImage): number {
  let sum = 0;
  for (let at = 0; at + 3 < pixels.length; at += 3) {
    sum += Math.abs((pixels[at] ?? 0) - (pixels[at + 3] ?? 0));
  }
  return sum / (width * height);
}
