// Makes dist/: what is published, with a package.json of its own.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const source = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

rmSync(dist, { recursive: true, force: true })
await build({
  input: {
    bin: join(root, 'src/bin.ts'),
    index: join(root, 'src/index.ts'),
    'spawn-server': join(root, 'src/io/spawn-server.ts'),
  },
  platform: 'node',
  external: [/^node:/, ...Object.keys(source.dependencies).map((name) => new RegExp(`^${name}(/|$)`))],
  output: { dir: dist, format: 'esm', chunkFileNames: 'chunks/[name]-[hash].js' },
})
execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
chmodSync(join(dist, 'bin.js'), 0o755)
for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md', 'schemas', 'docs']) {
  cpSync(join(root, name), join(dist, name), { recursive: true })
}
const { name, version, description, license, type, engines, dependencies } = source
const published = {
  name,
  version,
  description,
  license,
  type,
  engines,
  bin: { gantry: 'bin.js' },
  exports: {
    '.': { types: './types/src/index.d.ts', default: './index.js' },
    './schemas/*': './schemas/*',
    './package.json': './package.json',
  },
  dependencies,
}
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
console.log(`built ${name} ${version} in dist/`)
