/** Writes a checkpoint as published ones are: bf16, in shards. Its weights are random. */
import { openDevice, referenceBackend } from '@saccade/ops';
import {
  createLocalPolicy,
  nanoConfig,
  nanoSize,
  QwenProcessor,
  qwen2_5_vl,
  qwenImageProcessor,
  trainTokenizer,
} from '@saccade/policy';

export async function writeCheckpoint(directory: string): Promise<void> {
  const images = { ...qwenImageProcessor, minPixels: 28 * 28, maxPixels: 112 * 112 };
  const processor = new QwenProcessor(
    trainTokenizer(['Which digit is hidden? <code>'], 400),
    images,
  );
  const size = { ...nanoSize, layers: 2, visionLayers: 2, hidden: 64, intermediate: 128 };
  const model = qwen2_5_vl.model(
    nanoConfig(processor.codec.vocabSize, processor.tokens, { ...size, visionHidden: 48 }),
  );
  const device = openDevice(referenceBackend());
  const policy = createLocalPolicy({ device, model, processor, seed: 1, dtype: 'bf16' });
  await policy.save(directory, { maxShardBytes: 100_000 });
  device.dispose();
}
