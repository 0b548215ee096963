export { answerJudge } from './answer-judge.ts';
export { consistencyJudge } from './consistency-judge.ts';
export { cropJudge } from './crop-judge.ts';
export { errorJudge } from './error-judge.ts';
export { faithfulnessJudge } from './faithfulness-judge.ts';
export { processJudge } from './process-judge.ts';
