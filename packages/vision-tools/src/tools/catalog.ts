export { easyocr } from './easyocr.ts';
