/** Applies theorems to a figure until the goal is reached, nothing new follows, or a limit is met. */
import { randomAt } from '@saccade/core';
import type { Expression, Goal, Statement } from '../cdl/statement.ts';
import { Figure } from '../figure/figure.ts';
import type { Real } from '../numbers/real.ts';
import * as allTheorems from './all-theorems.ts';
import { bridge } from './bridge.ts';
import { fractionOf, linearOf, valueOfExpression } from './evaluate.ts';
import { addGivens } from './givens.ts';
import { Knowledge, type Known } from './knowledge.ts';
import { holds } from './prove.ts';
import { solveEquations } from './solve-equations.ts';
import type { Theorem } from './theorem.ts';

/**
 * How theorems are tried. `low-first`: simple ones first. `random`: in an order drawn from the seed.
 * `predict`: only those that fit the goal and the figure. `final`: these first, then the others.
 */
export type Strategy = 'final' | 'predict' | 'random' | 'low-first';

export interface SolveOptions {
  readonly strategy: Strategy;
  /** A step is one theorem applied everywhere that it gives something new. */
  readonly stepLimit: number;
  readonly timeLimitMs: number;
  /** Seed of the order in which `random` tries theorems. */
  readonly seed: number;
}

export type Ending = 'goal' | 'fixed point' | 'step limit' | 'time limit' | 'contradiction';

export interface Solved {
  readonly ending: Ending;
  readonly knowledge: Knowledge;
  /** The answers in the order of the goals: a value, true if it holds, or undefined. */
  readonly answers: readonly (Known<Real | true> | undefined)[];
  /** Names of the theorems that gave something, in order. */
  readonly applied: readonly string[];
  /** Statements that could not be used. */
  readonly unused: readonly Statement[];
}

const theorems: readonly Theorem[] = Object.values(allTheorems);

/**
 * Solves a problem.
 *
 * @throws CdlError if the statements describe no figure
 */
export function solve(
  statements: readonly Statement[],
  goals: readonly Goal[],
  options: SolveOptions,
): Solved {
  const deadline = performance.now() + options.timeLimitMs;
  const asked = goals.flatMap(askedIn);
  const knowledge = new Knowledge(new Figure([...statements, ...asked]));
  const unused = addGivens(knowledge, statements);
  // Each quantity asked for becomes an unknown, so that theorems look for it.
  for (const goal of goals) mention(goal, knowledge);
  return new Search(knowledge, goals, options, deadline, unused).run();
}

class Search {
  private readonly applied: string[] = [];
  private readonly order: readonly Theorem[];
  private readonly knowledge: Knowledge;
  private readonly goals: readonly Goal[];
  private readonly options: SolveOptions;
  private readonly deadline: number;
  private readonly unused: readonly Statement[];

  constructor(
    knowledge: Knowledge,
    goals: readonly Goal[],
    options: SolveOptions,
    deadline: number,
    unused: readonly Statement[],
  ) {
    this.knowledge = knowledge;
    this.goals = goals;
    this.options = options;
    this.deadline = deadline;
    this.unused = unused;
    this.order = ordered(options, goals);
  }

  run(): Solved {
    this.settle();
    for (;;) {
      const ending = this.round();
      if (ending !== undefined) {
        const { knowledge, applied, unused } = this;
        return { ending, knowledge, answers: this.answers(), applied, unused };
      }
    }
  }

  private round(): Ending | undefined {
    const start = this.knowledge.version;
    for (const theorem of this.order) {
      if (this.knowledge.contradiction !== undefined) return 'contradiction';
      if (this.isReached) return 'goal';
      if (this.applied.length >= this.options.stepLimit) return 'step limit';
      if (this.isLate()) return 'time limit';
      const before = this.knowledge.version;
      theorem.apply(this.knowledge);
      if (this.knowledge.version === before) continue;
      this.applied.push(theorem.name);
      this.settle();
    }
    if (this.isReached) return 'goal';
    return this.knowledge.version === start ? 'fixed point' : undefined;
  }

  /** Draws what follows by algebra. */
  private settle(): void {
    for (let round = 0; round < 20; round++) {
      if (this.isLate() || this.knowledge.contradiction !== undefined) return;
      const hasBridged = bridge(this.knowledge);
      const hasSolved = solveEquations(this.knowledge, () => this.isLate());
      if (!hasBridged && !hasSolved) return;
    }
  }

  private isLate(): boolean {
    return performance.now() > this.deadline;
  }

  private get isReached(): boolean {
    return this.goals.length > 0 && this.answers().every((answer) => answer !== undefined);
  }

  private answers(): readonly (Known<Real | true> | undefined)[] {
    return this.goals.map((goal) =>
      goal.kind === 'value'
        ? valueOfExpression(goal.of, this.knowledge)
        : holds(goal.of, this.knowledge),
    );
  }
}

function ordered({ strategy, seed }: SolveOptions, goals: readonly Goal[]): readonly Theorem[] {
  if (strategy === 'random') return randomAt(seed, 'theorems').shuffle(theorems);
  const lowFirst = theorems.toSorted((a, b) => a.level - b.level);
  if (strategy === 'low-first') return lowFirst;
  const topics = topicsOf(goals);
  const predicted = lowFirst.filter(
    ({ level, about }) => level === 1 || about.some((topic) => topics.has(topic)),
  );
  if (strategy === 'predict') return predicted;
  return [...predicted, ...lowFirst.filter((theorem) => !predicted.includes(theorem))];
}

/** Topics of goals: a length may need angles and relations, an angle relations, a letter all. */
function topicsOf(goals: readonly Goal[]): ReadonlySet<string> {
  const topics = new Set<string>();
  const names = new Set(goals.flatMap((goal) => (goal.kind === 'value' ? namesIn(goal.of) : [])));
  const isArea = ['area', 'circleArea', 'sectorArea', 'height'].some((name) => names.has(name));
  const isAngle = [...names].every((name) => name === 'angle' || name === 'arc');
  for (const topic of ['angle', 'arc', 'relation']) topics.add(topic);
  if (isArea) topics.add('area');
  if (!isAngle || names.size === 0) for (const topic of ['length', 'perimeter']) topics.add(topic);
  return topics;
}

function namesIn(expression: Expression): readonly string[] {
  if (expression.kind === 'operation') return expression.of.flatMap(namesIn);
  if (expression.kind === 'quantity') return [expression.name];
  return expression.kind === 'symbol' ? ['letter'] : [];
}

/** Statements that make the points and segments of a goal part of the figure. */
function askedIn(goal: Goal): readonly Statement[] {
  if (goal.kind === 'value') return [{ kind: 'equality', left: goal.of, right: goal.of }];
  if (goal.of.kind === 'equality') return [goal.of];
  // A statement to be proved must not be assumed: only its segments are drawn.
  return goal.of.groups.flatMap((group): readonly Statement[] =>
    group.length < 2
      ? []
      : group.slice(1).map((point, index) => ({
          kind: 'relation',
          name: 'Line',
          groups: [[group[index] ?? point, point]],
        })),
  );
}

function mention(goal: Goal, knowledge: Knowledge): void {
  if (goal.kind === 'value') mentionIn(goal.of, knowledge);
  else if (goal.of.kind === 'equality') {
    mentionIn(goal.of.left, knowledge);
    mentionIn(goal.of.right, knowledge);
  }
}

function mentionIn(expression: Expression, knowledge: Knowledge): void {
  if (expression.kind === 'operation') for (const part of expression.of) mentionIn(part, knowledge);
  else if (expression.kind === 'quantity') linearOf(expression, knowledge);
  else fractionOf(expression, knowledge);
}
