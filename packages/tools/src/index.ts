export { callTool, type ToolCall } from './call-tool.ts';
export { ToolError } from './errors.ts';
export { type ChosenTool, describeTools, openTools } from './open-tools.ts';
export { checkImage, checkPng, checkSize, MOST_IMAGE_PIXELS, OversizedImage } from './png.ts';
export { type RefusalType, refused } from './refused.ts';
export { imageTools, tools } from './registry.ts';
export { joinOutcomes, runOnImage } from './run-on-image.ts';
export {
  defineTool,
  type GivenArguments,
  type JsonSchema,
  type Tool,
  type ToolBatchCall,
  type ToolContext,
  type ToolDefinition,
  type ToolImage,
} from './tool.ts';
export {
  defineToolUnit,
  isToolUnit,
  type OpenTools,
  type ToolChoice,
  type ToolHost,
  type ToolUnit,
  toolSettings,
} from './tool-unit.ts';
export { codeImageTool } from './tools/code-image-tool.ts';
export { imageAdjustTool } from './tools/image-adjust-tool.ts';
export { imageDrawBoxTool } from './tools/image-draw-box-tool.ts';
export { imageDrawLineTool } from './tools/image-draw-line-tool.ts';
export { imageDrawPointTool } from './tools/image-draw-point-tool.ts';
export { imageFlipTool } from './tools/image-flip-tool.ts';
export { imageResizeTool } from './tools/image-resize-tool.ts';
export { imageRotateTool } from './tools/image-rotate-tool.ts';
export { imageZoomInTool } from './tools/image-zoom-in-tool.ts';
