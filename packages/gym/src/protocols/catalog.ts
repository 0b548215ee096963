export { pyvisionImage, pyvisionImageShort } from './pyvision-image.ts';
