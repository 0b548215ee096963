/**
 * The whole configuration of a run as one typed object. Unit, range, default and meaning of every
 * field stand in `config-schema.ts`; how text becomes a configuration, in `settings.ts`.
 */

export interface SftConfig {
  readonly examples: string;
  readonly demonstrations: number;
  readonly tours: number;
  readonly tourCards: number;
  readonly readings: number;
  readonly captions: number;
  readonly updates: number;
  readonly batchSize: number;
  readonly tourBatchSize: number;
  readonly readingBatchSize: number;
  readonly captionBatchSize: number;
  readonly answerWithoutLooking: number;
  readonly lookAtNothing: number;
  readonly answerAfterSeeing: number;
  readonly answerAfterMissing: number;
  readonly answerEasyAtOnce: number;
  readonly leaveTurned: number;
  readonly tryAnother: number;
  readonly turnUpright: number;
  readonly learningRate: number;
  readonly warmupFraction: number;
  readonly finalFraction: number;
  readonly weightDecay: number;
  readonly maxGradNorm: number;
}

export interface JudgeConfig {
  readonly baseUrl: string;
  readonly model: string;
  readonly keyVariable: string;
  readonly judgesAnswers: boolean;
  readonly maxConcurrent: number;
  readonly timeoutSeconds: number;
  readonly retries: number;
  readonly maxTokens: number;
}

export interface RlConfig {
  readonly steps: number;
  readonly algorithm: string;
  readonly profile: string;
  readonly algorithmSettings: Readonly<Record<string, number | string | boolean>>;
  readonly scheduler: string;
  readonly reward: string;
  readonly rewardWeights: Readonly<Record<string, number>>;
  readonly batchSize: number;
  readonly oversample: number;
  readonly groupSize: number;
  readonly ranking: boolean;
  readonly maxRounds: number;
  readonly maxStaleness: number;
  readonly tooStale: string;
  readonly onUpdate: string;
  readonly maxRestarts: number;
  readonly staleCaches: string;
  readonly deterministic: boolean;
  readonly maxInFlight: number;
  readonly minibatches: number;
  readonly temperature: number;
  readonly learningRate: number;
  readonly warmupFraction: number;
  readonly finalFraction: number;
  readonly weightDecay: number;
  readonly maxGradNorm: number;
  readonly accumulativeCoefficient: number;
  readonly judge: JudgeConfig;
}

export interface RolloutConfig {
  readonly maxToolTurns: number;
  readonly maxImages: number;
  readonly initialFrames: number;
  readonly maxTurnTokens: number;
  readonly maxContextTokens: number;
  readonly concurrency: number;
  readonly sandboxWallSeconds: number;
  readonly unsafeSandbox: boolean;
  readonly sandboxHosts: string;
  readonly sandboxTokenVariable: string;
  readonly deadlineSeconds: number;
  readonly retries: number;
  readonly slowShare: number;
  readonly slowSeconds: number;
}

export interface EvaluationConfig {
  readonly count: number;
  readonly temperature: number;
  readonly everySteps: number;
  readonly keepTrajectories: number;
}

export interface EngineConfig {
  readonly baseUrl: string;
  readonly model: string;
  readonly keyVariable: string;
  readonly publish: boolean;
  readonly directory: string;
  readonly engineDirectory: string;
  readonly timeoutSeconds: number;
  readonly retries: number;
}

export interface CheckpointConfig {
  readonly everySftUpdates: number;
  readonly everyRlSteps: number;
  readonly keep: number;
}

export interface RunConfig {
  readonly recipe: string;
  readonly startFrom: string;
  readonly seed: number;
  readonly backend: string;
  readonly threads: number;
  readonly policy: string;
  readonly taskSet: string;
  readonly protocol: string;
  readonly sharedPrefix: boolean;
  readonly microBatchTokens: number;
  readonly keepTrajectoriesEverySteps: number;
  readonly sft: SftConfig;
  readonly rl: RlConfig;
  readonly rollout: RolloutConfig;
  readonly engine: EngineConfig;
  readonly evaluation: EvaluationConfig;
  readonly checkpoint: CheckpointConfig;
}

/** Any part of a configuration; what is left out keeps its default. */
export type PartialConfig = {
  readonly [Key in keyof RunConfig]?: RunConfig[Key] extends object
    ? PartialGroup<RunConfig[Key]>
    : RunConfig[Key];
};

type PartialGroup<Group> = {
  readonly [Key in keyof Group]?: Group[Key] extends JudgeConfig ? Partial<Group[Key]> : Group[Key];
};
