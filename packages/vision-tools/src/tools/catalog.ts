export { easyocr } from './easyocr.ts';
export { groundingdino } from './groundingdino.ts';
