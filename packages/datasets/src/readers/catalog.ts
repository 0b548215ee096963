export { csv } from './csv.ts';
export { imageFolder } from './image-folder.ts';
export { json } from './json.ts';
export { jsonLines } from './json-lines.ts';
export { parquet } from './parquet.ts';
export { webdataset } from './webdataset.ts';
