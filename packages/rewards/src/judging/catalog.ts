export { boxes } from './boxes.ts';
export { openai } from './openai.ts';
