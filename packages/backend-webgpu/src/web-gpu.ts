/**
 * The names of WebGPU's objects in this package's declarations. They are those of TypeScript's own library
 * from version 6 on, and of `@webgpu/types` before; where a program has neither, any object is taken.
 */
declare global {
  interface GPU {}
  interface GPUAdapter {}
  interface GPUAdapterInfo {}
  interface GPUDevice {}
}

export {};
