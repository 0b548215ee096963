import { describe, expect, it } from 'vitest';
import { oneOf, tablesOf } from './tables.ts';

describe('tables', () => {
  it('have measures with the article that English gives them', () => {
    const measures = Object.fromEntries(tablesOf('train').map((table) => [table.id, oneOf(table)]));
    expect(measures).toMatchObject({
      'life-expectancy': 'a life expectancy',
      unemployment: 'an unemployment rate in the United States',
      employment: 'an employment in the United States',
      obesity: 'an obesity rate',
      population: 'a population',
    });
  });
});
