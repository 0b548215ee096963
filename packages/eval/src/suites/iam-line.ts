import { definePublicSuite } from '../suite/public-suite.ts';

export const iamLine = definePublicSuite({
  name: 'iam-line',
  description: 'IAM: lines of handwriting; 1 less the share of characters to change.',
  reads: ['IAM'],
  from: 'hf:datasets/Teklia/IAM-line',
  mapping: 'iam-line',
  files: ['data/test*'],
  // Near to 1 − CER, which divides by the length of the transcription and has no lower bound; letter
  // case does not count here.
  verifier: { name: 'anls', threshold: 1 },
  defaults: { temperature: 0.5, topK: 20 },
});
