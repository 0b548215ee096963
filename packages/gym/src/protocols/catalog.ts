export { codedance } from './codedance.ts';
export { codev } from './codev.ts';
export { codevision } from './codevision.ts';
export { pyvisionImage, pyvisionImageShort } from './pyvision-image.ts';
export { pyvisionVideo, pyvisionVideoShort } from './pyvision-video.ts';
export { vista } from './vista.ts';
