/** Answers geometry-solve with a proof: Inter-GPS on what it reads off figure and text. */

export const uses = '`inter_gps`, which calls `image_cdl` and `text_cdl`';
export const tools = ['inter_gps'];

const SECONDS = 20;

/** Whether a length or an angle is asked for, and how the answer is given. */
export const questionType = ({ metadata }) =>
  `${metadata.goal.startsWith('∠') ? 'angle' : 'length'} ${metadata.choices === undefined ? 'number' : 'letter'}`;

/** The number that the proof ends with, or the letter of the choice that has it. */
export async function answer({ question, images }, eyes) {
  const [problem, ...lines] = question.split('\n');
  const given = { question: problem.replace(/ Answer with.*$/, ''), time_limit: SECONDS };
  const proof = await eyes.call('inter_gps', given, images);
  const value = /^Answer: ([\d.]+)/m.exec(proof ?? '')?.[1];
  if (value === undefined) return undefined;
  const choice = lines.find((line) => Number.parseFloat(line.slice(3)) === Number(value));
  if (lines.length === 0) return value;
  return choice?.charAt(0);
}
