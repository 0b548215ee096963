/** Answers charts-qa with what ChartMoE answers to the question. */

export const uses = '`chartmoe`';
export const tools = ['chartmoe'];

export const questionType = ({ metadata }) => `${metadata.program.operation} ${metadata.table}`;

/** The first line of the tool's answer, in the words that the question asks for. */
export async function answer({ question, images }, eyes) {
  const given = { task: 'answer', question, output_format: 'brief' };
  const text = await eyes.call('chartmoe', given, images);
  const line = text?.split('\n')[1]?.trim();
  if (line === undefined || !question.includes('rise or fall')) return line;
  return /rise|increas|up/i.test(line) ? 'rise' : 'fall';
}
