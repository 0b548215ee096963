import { defineRecipe } from '../recipe.ts';
import { nanoOptimizers } from './nano-optimizers.ts';

/**
 * VISTA-R1 at nano size: choose the tool that the question takes, call it, read what it gave.
 *
 * Protocol, three tool turns, reward and objective are the paper's, arXiv:2511.19773, §5 and
 * Appendix G. The tools are called over HTTP. The prompt only asks, since so small a policy reads no
 * instructions; temperature, counts and learning rates are fitted to a policy of a million parameters
 * on two cores.
 */
export const vistaNano = defineRecipe({
  name: 'vista-nano',
  description: 'A small vision policy learns which tool a question takes: VISTA-R1 over HTTP.',
  paper: 'VISTA-R1, arXiv:2511.19773',
  config: {
    model: 'nano',
    taskSet: 'tool-needle',
    protocol: { name: 'vista', prompt: 'short' },
    tools: [
      {
        name: 'served',
        // A busy machine is slow, not broken.
        timeoutSeconds: 600,
        names: [
          'image_zoom_in_tool',
          'image_rotate_tool',
          'image_flip_tool',
          'read_code',
          // These help with no question.
          'image_resize_tool',
          'image_adjust_tool',
        ],
      },
    ],
    coldStart: {
      name: 'tool-needle',
      demonstrations: 768,
      tours: 1024,
      tourCards: 4,
      readings: 8192,
      codeReadings: 8192,
      captions: 16384,
      batchSize: 12,
      tourBatchSize: 22,
      readingBatchSize: 12,
      codeReadingBatchSize: 32,
      captionBatchSize: 128,
      answerWithoutLooking: 0.25,
      leaveTurned: 0.2,
      wrongTool: 0.2,
    },
    sft: { updates: 1000, learningRate: 8e-4 },
    ...nanoOptimizers({ sftFinalFraction: 0.03, finalFraction: 0.1 }),
    algorithm: 'vista-r1',
    scheduler: { name: 'synchronous', promptsPerStep: 16 },
    reward: 'vista',
    rl: { steps: 25, groupSize: 8, minibatches: 2, temperature: 1, learningRate: 1e-4 },
    evaluation: { count: 200, temperature: 1 },
    checkpoint: { everySftUpdates: 200, everyRlSteps: 10, keep: 2 },
  },
});
