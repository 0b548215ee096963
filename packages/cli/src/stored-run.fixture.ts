/** Writes a run directory whose steps keep trajectories, scored as PyVision-RL scores them. */
import { join } from 'node:path';
import { exact, presetTerms, scoreGroup } from '@saccade/rewards';
import {
  type MetricsRow,
  nodeFileSystem,
  openMetricsLog,
  updateManifest,
  writeConfig,
  writeTrajectorySet,
} from '@saccade/run-store';
import { inputOf, recipes, resolveRun } from '@saccade/train';
import { type ToolResult, type Trajectory, TrajectoryBuilder } from '@saccade/trajectory';

export interface StoredPlay {
  readonly codes: readonly string[];
  readonly answer: string;
}

export interface StoredRunOptions {
  readonly steps: number;
  /** The plays of each step's only group; the right answer is 7. */
  readonly plays: (step: number) => readonly StoredPlay[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Without it lines are written as runs wrote them that kept no metadata. */
  readonly keepsMetadata?: boolean;
}

const ran: ToolResult = { kind: 'ok', stdout: '', stderr: '', imageCount: 1, wallMs: 1 };

export async function writeStoredRun(directory: string, run: StoredRunOptions): Promise<void> {
  const { metadata = {}, keepsMetadata = true } = run;
  const rows: MetricsRow[] = [];
  for (let step = 1; step <= run.steps; step++) {
    const taskId = `task-${step}`;
    const trajectories = run
      .plays(step)
      .map((play, index) => trajectoryOf(taskId, `train/${step}/${taskId}/${index}`, index, play));
    const scoring = { verifier: exact, terms: presetTerms('pyvision') };
    const { scored } = scoreGroup({ taskId, trajectories }, { answer: '7', metadata }, scoring);
    const name = `step-${String(step).padStart(6, '0')}`;
    const tags = { question: 'which digit', answer: '7', box: '10,10,70,70' };
    const kept = { ...tags, metadata: JSON.stringify(metadata) };
    const set = scored.trajectories.map((trajectory) => ({
      trajectory,
      tags: keepsMetadata ? kept : tags,
    }));
    writeTrajectorySet(directory, name, set);
    const count = scored.trajectories.length;
    const mean = (of: (one: (typeof scored.trajectories)[number]) => number): number =>
      scored.trajectories.reduce((sum, one) => sum + of(one), 0) / count;
    rows.push({
      stage: 'rl',
      step,
      accuracy: mean(({ isCorrect }) => (isCorrect ? 1 : 0)),
      'rewards/accuracy/mean': mean(({ rewardTerms }) => rewardTerms.accuracy ?? 0),
      'rewards/accumulative-tool/mean': mean(
        ({ rewardTerms }) => rewardTerms['accumulative-tool'] ?? 0,
      ),
      'completions/mean_length': 10,
      'audit/tool-spam': step / run.steps,
    });
    rows.push({
      stage: 'evaluation',
      step,
      label: `step-${step}`,
      'eval/step_of_rl': step,
      'eval/accuracy': 1 - step / (2 * run.steps),
      'eval/count': 200,
    });
  }
  const log = openMetricsLog(join(directory, 'metrics.jsonl'));
  for (const row of rows) log.append(row);
  const { sizeBytes } = log.flush();
  log.close();
  updateManifest(nodeFileSystem, directory, (before) => ({ ...before, metricsBytes: sizeBytes }));
  writeConfig(directory, resolveRun(inputOf(recipes.get('smoke'))).config);
}

function trajectoryOf(taskId: string, id: string, index: number, play: StoredPlay): Trajectory {
  const builder = new TrajectoryBuilder({ id, taskId, sampleIndex: index });
  const image = {
    name: 'image_clue_0',
    png: new Uint8Array(0),
    width: 640,
    height: 400,
    modelWidth: 56,
    modelHeight: 28,
    tokenCount: 1,
  };
  builder.prompt({ tokens: Int32Array.of(1), images: [image], text: 'which digit' });
  const speak = (text: string): void => {
    const [tokens, logprobs] = [Int32Array.of(2), Float32Array.of(-1)];
    builder.model({ tokens, logprobs, text, policyVersion: 0 });
  };
  for (const code of play.codes) {
    speak(`<think>look</think><code>${code}</code>`);
    builder.turn({ kind: 'code', code }, ran);
    builder.observation({ tokens: Int32Array.of(3), images: [], text: 'seen' });
  }
  speak(`<think>so</think><answer>${play.answer}</answer>`);
  builder.turn({ kind: 'answer', answer: play.answer });
  return builder.finish('answered');
}
