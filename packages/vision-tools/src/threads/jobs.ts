/** The jobs of threads: messages in and out, plain values only. */
import type { GeometryAnswer, GeometryProblem } from '../geometry/solve-problem.ts';
import type { MathAnswer } from '../mathematics/math-answer.ts';

export type ComputeJob =
  | { readonly kind: 'mathematics'; readonly question: string; readonly choices: readonly string[] }
  | {
      readonly kind: 'geometry';
      readonly problem: GeometryProblem;
      readonly choices: readonly string[];
    };

/** The index of the choice that the answer is, if one is. */
interface Chosen {
  readonly choice: number | undefined;
}

export type ChosenAnswer = MathAnswer & Chosen;

export interface JobResults {
  readonly mathematics: ChosenAnswer;
  readonly geometry: GeometryAnswer & Chosen;
}

export type ComputeReply =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly type: string; readonly message: string };
