export { accumulativeTool } from './accumulative-tool.ts';
export { accuracy } from './accuracy.ts';
