/** Which part of a model each parameter belongs to, for every architecture. */
import { describe, expect, it } from 'vitest';
import { architectures } from '../architecture-registry.ts';
import { partOf } from './model-parts.ts';
import { nanoSize } from './model-size.ts';

const tokens = { imageToken: 7, videoToken: 8, visionStartToken: 5, visionEndToken: 6 };
/** Where decoders begin: what is neither of one nor of a tower is between them. */
const DECODER = /(^|\.)(language_model|text_model|embed_tokens|layers|norm|lm_head)\./;
const TOWER = /(^|\.)(visual|vision_tower|vision_model)\./;

describe.each(architectures.names)('%s', (name) => {
  const unit = architectures.get(name);
  const { specs } = unit.model(unit.nano(300, tokens, nanoSize));
  const partsOf = (wanted: (name: string) => boolean) => [
    ...new Set(specs.filter((spec) => wanted(spec.name)).map((spec) => partOf(spec.name))),
  ];

  it('has its decoder in one part, and nothing else in it', () => {
    const isTower = (one: string) => TOWER.test(one);
    const isDecoder = (one: string) => !isTower(one) && DECODER.test(one);
    expect(partsOf(isDecoder)).toEqual(['language']);
    expect(partsOf((one) => !isTower(one) && !isDecoder(one))).not.toContain('language');
  });

  it('has linear layers in its merger and its tower, if it sees images', () => {
    const linear = specs.filter(({ isLinear }) => isLinear).map((spec) => partOf(spec.name));
    const seesImages = specs.some((spec) => TOWER.test(spec.name));
    const expected = seesImages ? ['language', 'merger', 'vision'] : ['language'];
    expect([...new Set(linear)].sort()).toEqual(expected);
  });
});
