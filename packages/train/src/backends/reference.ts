export { reference } from '@saccade/ops/unit';
