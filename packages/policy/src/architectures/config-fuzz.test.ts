import { ConfigError, type Random, randomAt, SaccadeError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { architectures, readModel } from '../architecture-registry.ts';
import type { Json } from '../models/config-fields.ts';
import { nanoSize } from '../models/model-size.ts';

const tokens = { imageToken: 7, videoToken: 8, visionStartToken: 5, visionEndToken: 6 };
const size = { ...nanoSize, layers: 2, visionLayers: 2 };

/** The `config.json` of a small model of an architecture, as it is saved. */
function configOf(name: string): Json {
  const unit = architectures.get(name);
  return unit.model(unit.nano(300, tokens, size)).configJson(3);
}

const VALUES: readonly unknown[] = [
  ...[null, true, false, '', 'x', '128', [], [1], [1, 2, 3], {}, { a: 1 }],
  ...[0, -1, 0.5, 3, 1e-30, 1e9, 1e300],
];

type Path = readonly (string | number)[];

/** Every field of an object, and of the objects and lists in it. */
function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...path, key]));
  return path.length === 0 ? inner : [path, ...inner];
}

function changed(value: unknown, [first, ...rest]: Path, to: unknown): unknown {
  if (first === undefined) return to;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<
    string,
    unknown
  >;
  const next = rest.length === 0 ? to : changed(copy[first], rest, to);
  if (next === undefined) delete copy[first];
  else copy[first] = next;
  return copy;
}

/** What reading a configuration ends with: a model, or the error. */
function outcomeOf(config: unknown): unknown {
  try {
    return readModel(config as Json);
  } catch (error) {
    return error;
  }
}

/** The model of a config that was accepted has parameters whose shapes are counts. */
function expectSound(outcome: unknown, what: string): void {
  if (outcome instanceof Error) {
    expect(outcome, `${what}: ${outcome.stack}`).toBeInstanceOf(SaccadeError);
    return;
  }
  const { specs } = outcome as ReturnType<typeof readModel>;
  const shapes = specs.flatMap(({ shape }) => shape);
  expect(
    shapes.every((length) => Number.isInteger(length) && length > 0),
    `${what}: a shape that is none`,
  ).toBe(true);
}

describe.each(architectures.names)('config.json of %s', (name) => {
  const config = configOf(name);

  it('with any field of another type or value gives a model, or a typed error', () => {
    let refused = 0;
    for (const path of pathsOf(config)) {
      for (const value of [undefined, ...VALUES]) {
        const outcome = outcomeOf(changed(config, path, value));
        expectSound(outcome, `${path.join('.')} = ${JSON.stringify(value)}`);
        if (outcome instanceof ConfigError) {
          refused++;
          expect(outcome.message).toMatch(/must be|is true|not supported/);
        }
      }
    }
    expect(refused).toBeGreaterThan(100);
  });

  it('with several at a time does, too', () => {
    const random: Random = randomAt(1, 'config fuzz', name);
    const paths = pathsOf(config);
    for (let round = 0; round < 300; round++) {
      let other: unknown = config;
      for (let i = 0; i < 3; i++) {
        const path = paths[random.integer(paths.length)] as Path;
        // A field of an object that is there no longer.
        try {
          other = changed(other, path, VALUES[random.integer(VALUES.length)]);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
        }
      }
      expectSound(outcomeOf(other), JSON.stringify(other));
    }
  });
});
