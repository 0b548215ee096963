/** Flags of the WebGPU specification, for which Node has no globals. */

export const BufferUsage = {
  mapRead: 0x0001,
  copySource: 0x0004,
  copyTarget: 0x0008,
  uniform: 0x0040,
  storage: 0x0080,
} as const;

export const MAP_READ = 0x0001;

export const COMPUTE_STAGE = 0x4;

/** Alignment of a binding's offset that suffices on every device, in bytes. */
export const BINDING_ALIGNMENT = 256;
