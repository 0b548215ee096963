/// <reference types="@webgpu/types" preserve="true" />
/** Flags of the WebGPU specification, which Node has no globals for. */

export const BufferUsage = {
  mapRead: 0x0001,
  copySource: 0x0004,
  copyTarget: 0x0008,
  uniform: 0x0040,
  storage: 0x0080,
} as const;

export const MAP_READ = 0x0001;

export const COMPUTE_STAGE = 0x4;

/** What a binding's offset is a multiple of on every device. */
export const BINDING_ALIGNMENT = 256;
