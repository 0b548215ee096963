export { detectOrientation } from './detect-orientation.ts';
export { easyocr } from './easyocr.ts';
export { groundingdino } from './groundingdino.ts';
export { readCode } from './read-code.ts';
export { sam2 } from './sam2.ts';
export { stereoDepth } from './stereo-depth.ts';
