import { definePublicSuite } from '../suite/public-suite.ts';

export const geoqa = definePublicSuite({
  name: 'geoqa',
  description:
    'GeoQA: problems of plane geometry with four choices; its files are pickles to convert.',
  reads: ['GeoQA'],
  from: 'GeoQA',
  mapping: 'geoqa',
  verifier: 'multiple-choice',
  defaults: { temperature: 0.5, topK: 20 },
});
