/** Whether an answer is right: the same text, or a number within the task's tolerance. */

/** Texts are compared without case and without spaces around them. */
export function isRight(given, { answer, metadata }) {
  const plain = (text) => text.trim().toLowerCase();
  if (plain(given) === plain(answer)) return true;
  if (given.trim() === '') return false;
  const error = Math.abs(Number(given) - Number(answer));
  return error <= (metadata.tolerance ?? 0) * Math.abs(Number(answer));
}
