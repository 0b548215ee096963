/** PixMo-Count: things of a kind in photographs, whose files are looked up by their hash. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const pixmoCount = defineMapping({
  name: 'pixmo-count',
  description: 'PixMo-Count: count things of a kind in photographs, which are files by their hash.',
  sources: ['allenai/pixmo-count'],
  schemaFrom: 'public code of Molmo that reads it, and the card of its sister set PixMo-Points',
  isVerified: true,
  declaration: {
    question: 'How many {label} are there in the image?',
    // The set has addresses of images, and nothing here opens an address: see the README.
    images: { file: 'images/{image_sha256}', sha256: 'image_sha256' },
    answer: 'count',
    metadata: { label: 'label', points: 'points', address: 'image_url' },
  },
});
