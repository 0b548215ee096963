export { openRewardService } from './reward-service.ts';
export { openScoreAnswer } from './score-answer.ts';
