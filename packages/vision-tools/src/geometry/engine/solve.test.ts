import { randomAt } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { visionTools } from '../../registry.ts';
import * as theorems from './all-theorems.ts';
import { type RandomFigure, randomFigure } from './random-figure.fixture.ts';
import { type Solved, solve } from './solve.ts';
import { falseSteps, wrongTurns } from './truth.fixture.ts';

const FIGURES = 120;

/** Everything that follows from a figure, within a number of theorems that does not depend on time. */
const derive = ({ statements }: RandomFigure, seed: number): Solved =>
  solve(statements, [], {
    ...{ strategy: seed % 2 === 0 ? 'low-first' : 'random', seed },
    ...{ stepLimit: 12, timeLimitMs: Number.POSITIVE_INFINITY },
  });

function* randomFigures(): Iterable<readonly [RandomFigure, number]> {
  let found = 0;
  for (let seed = 0; found < FIGURES; seed++) {
    const random = randomAt(seed, 'figure');
    const figure = randomFigure(() => random.uniform());
    if (figure === undefined) continue;
    found++;
    yield [figure, seed];
  }
}

/** The figure with its first point elsewhere. */
function moved(figure: RandomFigure): RandomFigure {
  const points = new Map(figure.points);
  const [[name, { x, y }] = ['', { x: 0, y: 0 }]] = points;
  points.set(name, { x: x + 0.37, y: y - 0.21 });
  return { ...figure, points };
}

it('are as many theorems as the tool says', () => {
  const unit = visionTools.get('inter_gps');
  const [tool] = unit.describe(unit.settings.parse({}) as Record<string, unknown>);
  expect(tool?.description).toContain(`with ${Object.keys(theorems).length} theorems`);
});

it('are tried at random in an order that the seed alone decides', () => {
  const [[figure] = []] = randomFigures();
  if (figure === undefined) throw new Error('There are figures.');
  const orderOf = (seed: number) =>
    solve(figure.statements, [], {
      ...{ strategy: 'random', seed, stepLimit: 12, timeLimitMs: Number.POSITIVE_INFINITY },
    }).applied.join(' ');
  const seeds = Array.from({ length: 12 }, (_, seed) => seed);
  expect(seeds.map(orderOf)).toEqual(seeds.map(orderOf));
  expect(new Set(seeds.map(orderOf)).size).toBeGreaterThan(6);
});

describe('the theorems, on random figures', () => {
  it('say only what is so in the coordinates', () => {
    let steps = 0;
    let noticed = 0;
    for (const [figure, seed] of randomFigures()) {
      const { knowledge } = derive(figure, seed);
      expect(knowledge.contradiction, `seed ${seed}`).toBeUndefined();
      expect(wrongTurns(knowledge, figure), `seed ${seed}`).toEqual([]);
      const wrong = falseSteps(knowledge, figure).map((step) => JSON.stringify(step));
      expect(wrong, `seed ${seed}`).toEqual([]);
      steps += knowledge.steps.length;
      if (falseSteps(knowledge, moved(figure)).length > 0) noticed++;
    }
    expect(steps).toBeGreaterThan(10 * FIGURES);
    // The check itself sees where a figure is not the one that was described.
    expect(noticed).toBeGreaterThan(0.8 * FIGURES);
  });
});
