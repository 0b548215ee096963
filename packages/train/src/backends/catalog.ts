export { cuda, native } from '@saccade/backend-native/units';
export { webgpu } from '@saccade/backend-webgpu/unit';
export { reference } from '@saccade/ops/unit';
