export { ChatTemplate, type RenderOptions, type TemplateMessage } from './chat/chat-template.ts';
export type { ChatMessage, ChatToolCall } from './chat/message.ts';
export {
  CheckpointProcessor,
  type ConversationOptions,
  type ProcessorOptions,
} from './checkpoint-processor.ts';
export type { DecodedImage } from './decode-image.ts';
export { defineFamily, type FamilyOptions, type ProcessorFamily } from './families/family.ts';
export { processorFamilies } from './family-registry.ts';
export { type Json, JsonFields } from './json-fields.ts';
export { type LoadProcessorOptions, loadProcessor } from './load-processor.ts';
export { type ProcessorFiles, readProcessorFiles, writeProcessorFiles } from './processor-files.ts';
export type { Arithmetic } from './resample/windows.ts';
export type { VideoFrames } from './videos/frames.ts';
export type { Markup, Placeholder, Visuals } from './visuals.ts';
