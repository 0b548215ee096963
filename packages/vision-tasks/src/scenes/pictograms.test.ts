import type { Split } from '@saccade/gym';
import { describe, expect, it } from 'vitest';
import { pictogramsOf } from './pictograms.ts';

const splits: readonly Split[] = ['train', 'heldOut'];

describe('pictograms', () => {
  it('have the plurals of English', () => {
    const irregular: Readonly<Record<string, string>> = {
      cactus: 'cacti',
      'bunch of grapes': 'bunches of grapes',
      'pair of scissors': 'pairs of scissors',
    };
    for (const { name, plural } of splits.flatMap(pictogramsOf)) {
      const ending = /(s|x|z|ch|sh)$/.test(name) ? `${name}es` : `${name}s`;
      const regular = /[^aeiou]y$/.test(name) ? name.replace(/y$/, 'ies') : ending;
      expect(plural).toBe(irregular[name] ?? regular);
    }
  });
});
