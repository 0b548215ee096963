import { createRequire } from 'node:module';
import { readFileSync, readdirSync } from 'node:fs';
const root='/work/w/install';
const { checkPackage, createPackageFromTarballData } = await import('@arethetypeswrong/core');
const { publint } = await import('publint');
const only = process.argv.slice(2);
let n=0, count=0;
for (const f of readdirSync(root+'/build/tarballs').filter(f=>only.length===0||only.some(o=>f.includes(o)))) {
  const bytes = readFileSync(root+'/build/tarballs/'+f); count++;
  const { messages } = await publint({ pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset+bytes.length) }, strict: true });
  for (const m of messages) { n++; console.log(f, 'publint', JSON.stringify(m)); }
  const { types, problems=[] } = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)));
  if (types!==false) for (const p of problems) if (!['node10','node16-cjs'].includes(p.resolutionKind)) { n++; console.log(f, 'attw', p.kind, p.entrypoint, p.resolutionKind); }
}
console.log(count, 'tarballs', n, 'findings');
