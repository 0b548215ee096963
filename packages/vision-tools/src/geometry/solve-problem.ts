/** A problem in formal language, solved: the answers with their proofs, as plain values. */
import { readCdl } from './cdl/read-cdl.ts';
import { writeGoal, writeStatement } from './cdl/write-cdl.ts';
import { type ProofLine, proofOf } from './engine/proof.ts';
import { type Ending, type Strategy, solve } from './engine/solve.ts';
import type { Real } from './numbers/real.ts';

export interface GeometryProblem {
  /** Statements and goals, in FormalGeo's language or Inter-GPS's. */
  readonly cdl: readonly string[];
  readonly strategy: Strategy;
  readonly stepLimit: number;
  readonly timeLimitMs: number;
  readonly seed: number;
}

export interface GoalAnswer {
  /** As FormalGeo writes it. */
  readonly goal: string;
  /** Exactly, as a person writes it; `true` for what was proved; undefined if it was not found. */
  readonly text: string | undefined;
  readonly value: number | undefined;
  readonly proof: readonly ProofLine[];
}

export interface GeometryAnswer {
  readonly answers: readonly GoalAnswer[];
  readonly ending: Ending;
  /** Theorems that gave something, in the order in which they were applied. */
  readonly applied: readonly string[];
  /** Statements that could not be used. */
  readonly unused: readonly string[];
  /** The fact that contradicts the rest; undefined if there is none. */
  readonly contradiction: string | undefined;
  /** All statements, in FormalGeo's words. */
  readonly statements: readonly string[];
  readonly milliseconds: number;
}

/** @throws CdlError if the statements cannot be read, or describe no figure */
export function solveProblem(problem: GeometryProblem): GeometryAnswer {
  const start = performance.now();
  const { statements, goals } = readCdl(problem.cdl);
  const solved = solve(statements, goals, problem);
  const { knowledge } = solved;
  const answers = goals.map((goal, index): GoalAnswer => {
    const answer = solved.answers[index];
    const isProof = answer?.value === true;
    const value = isProof ? undefined : (answer?.value as Real | undefined);
    return {
      goal: writeGoal(goal),
      text: isProof ? 'true' : value?.toString(),
      value: value?.approx,
      proof: answer === undefined ? [] : proofOf(knowledge, answer.premises),
    };
  });
  return {
    answers,
    ending: solved.ending,
    applied: solved.applied,
    unused: solved.unused.map(writeStatement),
    contradiction: knowledge.contradiction?.text,
    statements: statements.map(writeStatement),
    milliseconds: performance.now() - start,
  };
}
