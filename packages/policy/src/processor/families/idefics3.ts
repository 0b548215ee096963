/** Idefics3. */
import { CheckpointProcessor } from '../checkpoint-processor.ts';
import { defineFamily } from './family.ts';
import { idefics3Own, idefics3Visuals, parseIdefics3Images } from './idefics3-visuals.ts';
import { arithmeticOf } from './image-steps.ts';

export const idefics3 = defineFamily({
  name: 'idefics3',
  description: 'Idefics3.',
  processorClasses: ['Idefics3Processor'],
  modelTypes: ['idefics3'],
  own: idefics3Own({ processor: 'Idefics3Processor', images: 'Idefics3ImageProcessor' }),
  open(files, options) {
    const arithmetic = arithmeticOf(files, options.arithmetic, 'torchvision');
    const images = parseIdefics3Images(files, arithmetic);
    return new CheckpointProcessor(files, idefics3Visuals(files, images), options);
  },
});
