/** Load with faults for a tool service: simple tools, tools that break, and the generator. */
export { type Fault, faults, faulty } from './load/faulty.ts';
export { deviceTool, digestTool, showTool } from './load/plain-tools.ts';
