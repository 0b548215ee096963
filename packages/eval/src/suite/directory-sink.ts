/** Samples of a suite in an evaluation directory: what is there, and appending to it. */
import {
  type Damage,
  openSampleLog,
  readEvaluation,
  type SampleLog,
  type StoredSample,
  sampleKey,
} from '@saccade/run-store';
import { keyOf, type SampleSink } from './draw-samples.ts';

/** A sink that is open on a directory. */
export interface DirectorySink extends SampleSink {
  /** What was found damaged, and put right. */
  readonly damage: readonly Damage[];
  /** Scored samples that are there. */
  readonly count: number;
  close(): void;
}

/** Opens the samples of a suite. @throws StoreError if they cannot be read or written */
export function openDirectorySink(directory: string, suite: string): DirectorySink {
  const scoredLog = openSampleLog(directory, suite, 'scored');
  let unscoredLog: SampleLog | undefined;
  try {
    unscoredLog = openSampleLog(directory, suite, 'unscored');
    const damage: Damage[] = [...scoredLog.damage, ...unscoredLog.damage];
    const { value: evaluation } = readEvaluation(directory);
    const scored = new Set<string>();
    for (const { trajectory } of evaluation.samples(suite, damage)) scored.add(keyOf(trajectory));
    const unscored = new Map<string, StoredSample>();
    for (const sample of evaluation.unscored(suite)) {
      unscored.set(keyOf(sample.trajectory), sample);
    }
    const known = new Set(unscored.keys());
    const unscoredOpen = unscoredLog;
    return {
      damage,
      get count() {
        return scored.size;
      },
      has: (taskId, sampleIndex) => scored.has(sampleKey(taskId, sampleIndex)),
      async unscored(taskId, sampleIndex) {
        const key = sampleKey(taskId, sampleIndex);
        const sample = unscored.get(key);
        unscored.delete(key);
        if (sample === undefined) return undefined;
        const { value, damage: images } = await sample.load();
        // Without its images a judge would see something else: then it is rolled out anew.
        return images.length === 0 ? value : undefined;
      },
      addScored(trajectory, taskIndex) {
        scoredLog.append({ trajectory, tags: { taskIndex } });
        scored.add(keyOf(trajectory));
      },
      addUnscored(trajectory, taskIndex, reason) {
        const key = keyOf(trajectory);
        if (known.has(key)) return;
        unscoredOpen.append({ trajectory, tags: { taskIndex, scoringFailure: reason } });
        known.add(key);
      },
      close() {
        try {
          scoredLog.close();
        } finally {
          unscoredOpen.close();
        }
      },
    };
  } catch (error) {
    scoredLog.close();
    unscoredLog?.close();
    throw error;
  }
}
