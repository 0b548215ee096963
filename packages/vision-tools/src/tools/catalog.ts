export { easyocr } from './easyocr.ts';
export { groundingdino } from './groundingdino.ts';
export { sam2 } from './sam2.ts';
