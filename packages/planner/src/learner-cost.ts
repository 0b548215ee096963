/** Seconds that a learner of L GPUs takes for a step, from what one of known size was measured to take. */

/** Costs of learning, measured on `gpus` GPUs. */
export interface LearnerCosts {
  /** GPUs of the learner that was measured. */
  readonly gpus: number;
  /** Of forward, backward and the loss. */
  readonly secondsPerToken: number;
  /** Of scoring by the policy or a reference, all passes together; 0 where nothing is rescored. */
  readonly scoreSecondsPerToken: number;
  /** Of a step, whatever its size: optimizer, packing, rows. */
  readonly secondsPerStep: number;
  /** Packed tokens of a pass of one GPU. */
  readonly microBatchTokens: number;
  /** Kept of the speed for each doubling of the GPUs, 0 to 1. */
  readonly efficiencyPerDoubling: number;
  /** Trained weights, and bytes of each that FSDP moves. */
  readonly parameters: number;
  readonly bytesPerParameter: number;
  /** Between the GPUs of a learner, bytes a second of each. */
  readonly gatherBytesPerSecond: number;
  /** Share of the moving that computing hides, 0 to 1. */
  readonly overlap: number;
}

/** Where the seconds of a step go. */
export interface LearnSeconds {
  readonly compute: number;
  /** Moving of weights and gradients that computing does not hide. */
  readonly exposed: number;
  readonly fixed: number;
  readonly total: number;
}

/**
 * Seconds of a learning step of T packed tokens on L GPUs, with L₀ GPUs measured.
 *
 *   compute = T · (s + s_score) · L₀/L · e^−max(0, log₂(L/L₀))    e: efficiency kept for a doubling
 *
 * Below L₀ it scales perfectly. FSDP gathers each weight for the forward and for the
 * backward of every pass, and scatters its gradient; scoring gathers it once more:
 *
 *   passes   = ⌈T / (L · microBatchTokens)⌉
 *   moved    = passes · (3 + [s_score > 0]) · parameters · bytes · (L − 1)/L / bandwidth
 *   exposed  = max(0, moved − overlap · compute)
 *
 * The measured step on L₀ GPUs holds its own moving already, so only what L adds counts:
 *
 *   total = compute + max(0, exposed(L) − exposed(L₀)) + secondsPerStep
 */
export function learnSeconds(costs: LearnerCosts, tokens: number, gpus: number): LearnSeconds {
  if (tokens <= 0) return { compute: 0, exposed: 0, fixed: 0, total: 0 };
  const exposedAt = (count: number): number =>
    Math.max(
      0,
      movedSeconds(costs, tokens, count) - costs.overlap * computeAt(costs, tokens, count),
    );
  const compute = computeAt(costs, tokens, gpus);
  const exposed = Math.max(0, exposedAt(gpus) - exposedAt(costs.gpus));
  const fixed = costs.secondsPerStep;
  return { compute, exposed, fixed, total: compute + exposed + fixed };
}

function computeAt(costs: LearnerCosts, tokens: number, gpus: number): number {
  const { secondsPerToken, scoreSecondsPerToken, efficiencyPerDoubling } = costs;
  const alone = tokens * (secondsPerToken + scoreSecondsPerToken);
  const doublings = Math.max(0, Math.log2(gpus / costs.gpus));
  return (alone * costs.gpus) / gpus / efficiencyPerDoubling ** doublings;
}

function movedSeconds(costs: LearnerCosts, tokens: number, gpus: number): number {
  const { microBatchTokens, parameters, bytesPerParameter, gatherBytesPerSecond } = costs;
  if (gpus <= 1 || parameters === 0) return 0;
  const passes = Math.ceil(tokens / (gpus * microBatchTokens));
  const times = costs.scoreSecondsPerToken > 0 ? 4 : 3;
  const bytes = (parameters * bytesPerParameter * (gpus - 1)) / gpus;
  return (passes * times * bytes) / gatherBytesPerSecond;
}
