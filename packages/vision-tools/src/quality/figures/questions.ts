/** Questions about figures: those with an answer, and those whose answer no figure of its kind tells. */
import type { Laid } from './scene.ts';

export interface FigureQuestion {
  readonly text: string;
  /** The goal of the question, in FormalGeo's language. */
  readonly goal: string;
  /** The statements that the text makes beside the question. */
  readonly said: readonly string[];
  readonly answer: number;
}

export function questionOf({ scene }: Laid): FigureQuestion {
  const { question, answer } = scene;
  const shape = /^(\w+) is a parallelogram\./.exec(question)?.[1];
  return {
    ...{ text: question, goal: goalOf(question), answer },
    said: shape === undefined ? [] : [`Parallelogram(${shape})`],
  };
}

function goalOf(question: string): string {
  const corner = /angle ([A-Z]{3})/.exec(question)?.[1];
  if (corner !== undefined) return `Value(MeasureOfAngle(${corner}))`;
  const segment = /length of ([A-Z]{2})/.exec(question)?.[1];
  return segment === undefined ? 'Value(x)' : `Value(LengthOfLine(${segment}))`;
}

/** By kind of figure, a question that needs a measure which is not there. */
const open: Readonly<Record<string, string>> = {
  'two angles of a triangle': 'Find the length of AB.',
  'isosceles triangle': 'Find the length of DE.',
  parallelogram: 'Find the length of AB.',
  'parallel lines and a transversal': 'Find the length of EF.',
  'inscribed and central angle': 'Find the length of CA.',
  'angle in a semicircle': 'Find the length of BC.',
  'lines that cross': 'Find the length of AE.',
  median: 'Find the length of AM.',
  'angles with a letter': 'Find the length of KL.',
};

/** A question that cannot be answered, and its goal; undefined for kinds that have none. */
export function openQuestionOf({ scene }: Laid): Pick<FigureQuestion, 'text' | 'goal'> | undefined {
  const text = open[scene.name];
  return text === undefined ? undefined : { text, goal: goalOf(text) };
}
