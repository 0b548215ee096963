import type { Task } from '@saccade/gym';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { DocumentFacts } from '../documents/document-task.ts';
import { documents8mp } from './documents-8mp.ts';
import { isInside } from './families.fixture.ts';

const factsOf = ({ metadata }: Task) => metadata as unknown as DocumentFacts;

describe('documents-8mp', () => {
  it('has pages of 8.7 megapixels of each kind, with ink in the evidence, and draws them alike', async () => {
    for (const kind of ['speech', 'table', 'form']) {
      const set = documents8mp.with({ kinds: [kind], easiest: 2 });
      const split = kind === 'table' ? 'train' : 'heldOut';
      const task = await set.task(split, 1);
      const [image] = task.images;
      expect(image).toMatchObject({ width: 2480, height: 3508 });
      const { data, info } = await sharp(image?.png).extractChannel(0).raw().toBuffer({
        resolveWithObject: true,
      });
      const facts = factsOf(task);
      expect(facts).toMatchObject({ family: 'documents-8mp', kind, requiredTools: ['crop'] });
      expect(facts.evidence.length).toBeGreaterThan(0);
      for (const box of facts.evidence) {
        expect(isInside(box, facts.box, image)).toBe(true);
        let darkest = 255;
        for (let y = box[1]; y < box[3]; y++) {
          for (let x = box[0]; x < box[2]; x++) {
            darkest = Math.min(darkest, data[y * info.width + x] ?? 255);
          }
        }
        expect(darkest, task.question).toBeLessThan(120);
      }
      if (kind !== 'form') continue;
      const again = await set.task(split, 1);
      expect(Buffer.from(again.images[0]?.png ?? []).equals(Buffer.from(image?.png ?? []))).toBe(
        true,
      );
    }
  });
});
