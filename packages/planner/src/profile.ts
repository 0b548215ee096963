/** What is left of a recorded trajectory for a simulation: how much of everything, and its reward. */
import type {
  ScoredTrajectory,
  Segment,
  StopReason,
  TrajectoryImage,
  Turn,
} from '@saccade/trajectory';

/** One turn: what the model writes, and what the environment answers. */
interface TurnProfile {
  readonly modelTokens: number;
  /** Seconds of its tool; absent where it used none. */
  readonly toolSeconds?: number;
  /** Tokens of the observation, those of images included; 0 in the last turn. */
  readonly observationTokens: number;
  /** Images of the observation. */
  readonly images: number;
}

/** A recorded trajectory, as numbers. */
export interface TrajectoryProfile {
  readonly turns: readonly TurnProfile[];
  readonly reward: number;
  readonly isCorrect: boolean;
  readonly stopReason: StopReason;
}

/** The recorded trajectories of one task: drawn together, so that tasks stay hard or easy. */
export interface GroupProfile {
  /** Tokens of the prompt, those of images included. */
  readonly promptTokens: number;
  readonly trajectories: readonly TrajectoryProfile[];
}

/** Groups of trajectories as profiles; a task that was rolled out in two steps is two groups. */
export function profileGroups(
  groups: readonly (readonly ScoredTrajectory[])[],
): readonly GroupProfile[] {
  return groups.flatMap((trajectories) => {
    const [first] = trajectories;
    if (first === undefined) return [];
    const prompt = first.segments[0];
    return [
      {
        promptTokens: prompt?.kind === 'prompt' ? prompt.tokens.length : 0,
        trajectories: trajectories.map(profileOf),
      },
    ];
  });
}

function profileOf(trajectory: ScoredTrajectory): TrajectoryProfile {
  const { segments, turns, reward, isCorrect, stopReason } = trajectory;
  const found = segments.flatMap((segment, at): readonly TurnProfile[] => {
    if (segment.kind !== 'model') return [];
    const turn = turns.find((one) => one.segment === at);
    const next = segments[at + 1];
    const observation = next?.kind === 'observation' ? next : undefined;
    return [
      {
        modelTokens: Math.max(1, segment.tokens.length),
        ...(turn?.result && { toolSeconds: turn.result.wallMs / 1000 }),
        observationTokens: observation?.tokens.length ?? 0,
        images: observation?.images.length ?? 0,
      },
    ];
  });
  return { turns: found, reward, isCorrect, stopReason };
}

const shown: TrajectoryImage = {
  name: 'image_0',
  png: new Uint8Array(0),
  width: 1,
  height: 1,
  modelWidth: 1,
  modelHeight: 1,
  tokenCount: 1,
};

type Body = Pick<ScoredTrajectory, 'segments' | 'turns'>;
const bodies = new WeakMap<TrajectoryProfile, Body>();

/** Segments and turns with the right lengths. The same arrays serve every draw of a profile. */
function bodyOf(profile: TrajectoryProfile, promptTokens: number): Body {
  const known = bodies.get(profile);
  if (known !== undefined) return known;
  const prompt = new Int32Array(Math.max(1, promptTokens));
  const segments: Segment[] = [{ kind: 'prompt', tokens: prompt, images: [], text: '' }];
  const turns: Turn[] = profile.turns.map((turn, index) => {
    const tokens = new Int32Array(turn.modelTokens);
    const logprobs = new Float32Array(turn.modelTokens);
    const segment = segments.push({ kind: 'model', tokens, logprobs, images: [], text: '' }) - 1;
    if (turn.observationTokens > 0) {
      const images = Array.from({ length: turn.images }, () => shown);
      const observed = new Int32Array(turn.observationTokens);
      segments.push({ kind: 'observation', tokens: observed, images, text: '' });
    }
    const isLast = index + 1 === profile.turns.length;
    if (turn.toolSeconds === undefined) {
      const reason = 'noCodeNorAnswer';
      const ends = isLast && profile.stopReason === 'answered';
      return {
        action: ends ? { kind: 'answer', answer: '' } : { kind: 'invalid', reason },
        segment,
      };
    }
    const isOk = !(isLast && profile.stopReason === 'toolError');
    return {
      action: { kind: 'code', code: '' },
      result: {
        kind: isOk ? 'ok' : 'exception',
        stdout: '',
        stderr: '',
        imageCount: turn.images,
        wallMs: 1000 * turn.toolSeconds,
      },
      segment,
    };
  });
  const body = { segments, turns };
  bodies.set(profile, body);
  return body;
}

/** A trajectory that a scheduler takes for real: lengths, turns, images, end and reward are there. */
export function trajectoryOf(
  profile: TrajectoryProfile,
  promptTokens: number,
  at: { readonly taskId: string; readonly sampleIndex: number; readonly policyVersion: number },
): ScoredTrajectory {
  const { reward, isCorrect, stopReason } = profile;
  return {
    id: `${at.taskId}/${at.sampleIndex}`,
    ...at,
    ...bodyOf(profile, promptTokens),
    stopReason,
    ...(stopReason === 'answered' && { answer: '' }),
    reward,
    rewardTerms: { reward },
    isCorrect,
  };
}
