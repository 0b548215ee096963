/**
 * Trains the cold start of every size on this machine's CPU and writes the weights that the page
 * starts from: src/cold-starts/<size>.safetensors.
 *
 *   node examples/browser/cold-starts.mjs        after npx tsc -b
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nativeBackend } from '@saccade/backend-native';
import { openDevice } from '@saccade/ops';
import { presets, withLength } from './dist/types/training/presets.js';
import { train } from './dist/types/training/train.js';
import { packWeights } from './dist/types/training/weights.js';

const folder = join(dirname(fileURLToPath(import.meta.url)), 'src', 'cold-starts');
mkdirSync(folder, { recursive: true });
for (const preset of presets) {
  const device = openDevice(nativeBackend());
  const settings = {
    preset: withLength(preset, preset.coldStart.updates, 0),
    algorithm: 'pyvision-rl',
    hasToolBonus: true,
    seed: 1,
  };
  let policy;
  let file;
  await train(device, settings, {
    onPolicy: (made) => {
      policy = made;
    },
    onEvent: async (event) => {
      if (event.kind !== 'evaluation') return;
      console.log(`${preset.name}: ${(100 * event.accuracy).toFixed(0)} % of ${event.count}`);
    },
    pass: async () => {},
    onColdStart: async () => {
      file = await packWeights(policy);
    },
  });
  writeFileSync(join(folder, `${preset.name}.safetensors`), file);
  console.log(`${preset.name}: ${file.length} bytes`);
  device.dispose();
}
