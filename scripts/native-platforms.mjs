/**
 * The packages that hold one compiled addon each, as `native/platforms.json` lists them. npm installs
 * the one that fits the machine. Their binaries are in native/prebuilt/<platform>, where the workflow
 * of a release, or `node native/build.mjs --portable`, puts them.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const ADDON = 'saccade.node';

/**
 * All platforms, with what is there of them.
 *
 * @returns {{ name: string, platform: string, file: string, isBuilt: boolean, isReleased: boolean,
 *   isOptionalDependency: boolean, os: string, cpu: string, libc?: string }[]}
 */
export function listPlatforms(root) {
  const platforms = JSON.parse(readFileSync(join(root, 'native', 'platforms.json'), 'utf8'));
  return Object.entries(platforms).map(([platform, { library, isReleased = false, ...fits }]) => {
    const file = join(root, 'native', 'prebuilt', platform, library ?? ADDON);
    return {
      ...fits,
      name: `@saccade/native-${platform}`,
      platform,
      file,
      isBuilt: existsSync(file),
      isReleased,
      // A library for devices is larger than all else together; those who have one ask for it.
      isOptionalDependency: library === undefined,
    };
  });
}

const readmeOf = ({ name, platform, isOptionalDependency }) =>
  isOptionalDependency
    ? `# ${name}\n\nThe compiled addon of [@saccade/native](https://www.npmjs.com/package/@saccade/native) ` +
      `for ${platform}. npm installs it where it fits; nothing needs to name it.\n`
    : `# ${name}\n\nThe kernels of [@saccade/native](https://www.npmjs.com/package/@saccade/native) for ` +
      `NVIDIA GPUs of compute capability 8.0 and newer. Install it beside @saccade/backend-native:\n\n` +
      `\`\`\`sh\nnpm install ${name}\n\`\`\`\n`;

/** Writes the folder of one platform's package. `native` is the manifest of @saccade/native. */
export function stagePlatform(root, platform, native, target) {
  const { name, file, os, cpu, libc } = platform;
  const { version, license, engines, repository, homepage, bugs, publishConfig } = native;
  const what = platform.isOptionalDependency ? 'addon' : 'CUDA kernels';
  const manifest = {
    name,
    version,
    description: `The compiled ${what} of @saccade/native for ${platform.platform}.`,
    keywords: ['saccade', 'native-addon', 'prebuilt'],
    license,
    ...(homepage && { homepage }),
    ...(bugs && { bugs }),
    ...(repository && { repository }),
    // Node loads an addon as it loads CommonJS.
    type: 'commonjs',
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
    engines,
    exports: {
      [`./${basename(file)}`]: `./${basename(file)}`,
      './package.json': './package.json',
    },
    files: [basename(file)],
    publishConfig,
    // Yarn must not keep it in an archive: it is loaded as a file.
    preferUnplugged: true,
  };
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(target, 'README.md'), readmeOf(platform));
  copyFileSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
  copyFileSync(file, join(target, basename(file)));
}
