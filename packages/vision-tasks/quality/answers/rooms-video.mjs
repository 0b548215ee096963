/** Answers about films of rooms from the places of furniture on the floor, which the first turn around shows. */

export const uses =
  'code that finds furniture by its colors, and where it stands on the floor, as one who knows the camera';
export const tools = [];
/** Smaller films are drawn faster; rooms and answers are as likely in them. */
export const blindSettings = { width: 64 };

export const questionType = ({ metadata }) =>
  `${metadata.program.operation} ${metadata.difficulty} ${
    metadata.program.operation === 'object-size' ? metadata.program.pieces[0] : ''
  }`;

/** The answer as `quality/python/survey_room.py` finds it. */
export async function answer({ question, images }, eyes) {
  return (await eyes.python('survey_room', { question }, images)) ?? undefined;
}

/** Numbers by mean relative accuracy of at least a half, choices by their letter. */
export function isRight(given, { answer: right, metadata }) {
  if (metadata.answerType === 'choice') return given.trim() === right;
  const error = Math.abs(Number(given) - Number(right)) / Math.abs(Number(right));
  const tolerances = Array.from({ length: 10 }, (_, index) => 0.5 - 0.05 * index);
  return tolerances.filter((tolerance) => error < tolerance).length >= 5;
}
