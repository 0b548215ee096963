/** Answers spot-the-difference by subtracting the images. */

export const uses = 'code that subtracts the images (OpenCV in the sandbox)';
export const tools = [];

export const questionType = ({ metadata }) => metadata.program.operation;

/** The answer as `quality/python/spot_difference.py` finds it. */
export async function answer({ question, images }, eyes) {
  return (await eyes.python('spot_difference', { question }, images)) ?? undefined;
}
