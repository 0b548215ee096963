export { llamaFactory } from './llama-factory.ts';
export { msSwift } from './ms-swift.ts';
export { openai } from './openai.ts';
export { saccade } from './saccade.ts';
export { verl } from './verl.ts';
