export { answerJudge } from './answer-judge.ts';
export { cropJudge } from './crop-judge.ts';
