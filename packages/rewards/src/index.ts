export { type Ask, type AskOptions, askWith, type GradeCache, memoryCache } from './ask-judge.ts';
export { ChatError } from './chat/chat-error.ts';
export type { ChatMessage, ChatModel, ChatOptions, ChatPart } from './chat/chat-model.ts';
export { type OpenAiChatOptions, openAiChat } from './chat/openai-chat.ts';
export { type Script, type ScriptedChat, scriptedChat, textOf } from './chat/scripted-chat.ts';
export { type SteadyOptions, steadyChat } from './chat/steady-chat.ts';
export type { Judge, Untrusted } from './judge.ts';
export { gradeCrops, type JudgedOptions, judgedVerifier } from './judged.ts';
export { type AnswerInput, answerJudge } from './judges/answer-judge.ts';
export { type CropInput, cropJudge } from './judges/crop-judge.ts';
export { fenced, gradeIn, replyRule } from './judges/fence.ts';
export { pyvisionRlTerms } from './presets/pyvision-rl.ts';
export { judges, rewards, verifiers } from './registry.ts';
export { answerIn } from './response.ts';
export type { GroupReward, Reward, RewardContext, TurnReward, Verifier } from './reward.ts';
export { accumulativeTool } from './rewards/accumulative-tool.ts';
export { accuracy } from './rewards/accuracy.ts';
export {
  RewardError,
  type RewardTerm,
  type ScoredGroupResult,
  type Scoring,
  type ScoringTask,
  scoreGroup,
  scoreTrajectory,
} from './score.ts';
export {
  boxedContent,
  judge,
  type Refusal,
  type Verdict,
  type VerdictOptions,
} from './verdict.ts';
export { anls } from './verifiers/anls.ts';
export { boxIou } from './verifiers/box-iou.ts';
export { counting } from './verifiers/counting.ts';
export { exact } from './verifiers/exact.ts';
export { math } from './verifiers/math.ts';
export { mra } from './verifiers/mra.ts';
export { multipleChoice, multipleChoiceOf } from './verifiers/multiple-choice.ts';
export { numeric } from './verifiers/numeric.ts';
export {
  type QuantityOptions,
  quantity,
  quantityRelaxed,
  quantityWithin,
} from './verifiers/quantity.ts';
