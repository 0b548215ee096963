export { type Card, parseCard, readCard } from './card/read-card.ts';
export { type ExportOptions, type ExportResult, exportTasks } from './export/export-tasks.ts';
export type { DataFile } from './files/data-files.ts';
export { formatOf, type ImageFormat } from './images/image-format.ts';
export { type DHash, dHash, hammingDistance, pixelHash } from './images/image-hash.ts';
export { type PngImage, toPng } from './images/to-png.ts';
export {
  compileMapping,
  type MapContext,
  type MappedRow,
  type Mapping,
} from './mapping/compile-mapping.ts';
export { defineMapping, type MappingUnit } from './mapping/define-mapping.ts';
export {
  type MappingDeclaration,
  type MappingInput,
  mappingSchema,
} from './mapping/mapping-schema.ts';
export { type DuplicateOptions, type LeftOut, leaveDuplicatesOut } from './mixture/duplicates.ts';
export { Interleave, type Place, type Share, temperatureWeights } from './mixture/interleave.ts';
export { Permutation, RowOrder, type RowOrderOptions } from './mixture/permutation.ts';
export { defineReader, type Reader, type ReaderContext } from './reader.ts';
export { mappings, readers } from './reader-registry.ts';
export { datasetTaskSets, type KnownDatasetTaskSet, writers } from './registry.ts';
export type { CorruptRows } from './sources/corrupt-rows.ts';
export { DataSource, type SourceContext } from './sources/data-source.ts';
export { type DataTables, openTables } from './sources/open-files.ts';
export { type SourceSettings, sourceSettings } from './sources/source-settings.ts';
export { type CheckedSource, checkSource } from './statistics/check-source.ts';
export { type DataStatistics, measure } from './statistics/measure.ts';
export { statisticsPage } from './statistics/page.ts';
export type { Column, Fields, Row, Table } from './table.ts';
export { dataset } from './task-sets/dataset.ts';
export { mixture } from './task-sets/mixture.ts';
export { type VideoFacts, videoFacts } from './videos/video-facts.ts';
export { defineWriter, type Writer, type WriterContext, type WrittenFiles } from './writer.ts';
