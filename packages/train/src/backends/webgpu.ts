export { webgpu } from '@saccade/backend-webgpu/unit';
