/** WebDataset shards that Saccade exports. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const saccadeWebdataset = defineMapping({
  name: 'saccade-webdataset',
  description: 'WebDataset shards that Saccade exports.',
  sources: [],
  schemaFrom: 'packages/datasets/src/writers',
  isVerified: true,
  declaration: {
    question: 'json.question',
    images: [
      { value: '["0.png"]', optional: true },
      { value: '["1.png"]', optional: true },
      { value: '["2.png"]', optional: true },
      { value: '["3.png"]', optional: true },
      { value: '["4.png"]', optional: true },
      { value: '["5.png"]', optional: true },
      { value: '["6.png"]', optional: true },
      { value: '["7.png"]', optional: true },
    ],
    answer: 'json.answer',
    metadataFrom: 'json.metadata',
  },
});
