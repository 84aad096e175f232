// Makes dist/, the published package with its own package.json. The program is bundled with its dependencies, because finding
// files takes most of its start. The library keeps them external, so that its users have one copy of each.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'rolldown'
import { globSync } from 'tinyglobby'
import { buildHook } from './build-hook.ts'
import { buildProgram } from './build-program.ts'
import { buildView } from './build-view.ts'
import { inlineTexts } from './inline-texts.ts'
import { licencesOf } from './licences-of.ts'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const source = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const spawnServer = join(root, 'src/io/spawn-server.ts')
/** Some modules that one command imports late are imported by others at once. */
const checks = { ineffectiveDynamicImport: false }
const shared = { platform: 'node' as const, external: [/^node:/], checks }
const output = { format: 'esm' as const, chunkFileNames: 'chunks/[name]-[hash].js' }

rmSync(dist, { recursive: true, force: true })
const program = await buildProgram(join(dist, 'cli'))
await build({
  ...shared,
  input: {
    index: join(root, 'src/index.ts'),
    types: join(root, 'src/library/plugin-types.ts'),
    'spawn-server': spawnServer,
  },
  external: [
    ...shared.external,
    ...Object.keys(source.dependencies).map((name) => new RegExp(`^${name}(/|$)`)),
  ],
  plugins: [inlineTexts],
  output: { ...output, dir: dist },
})
execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
keepReachedTypes(['src/index', 'src/library/plugin-types'].map((name) => join(dist, 'types', `${name}.d.ts`)))
chmodSync(join(dist, 'cli/bin.js'), 0o755)
const view = await buildView(join(dist, 'view'))
const hook = join(dist, 'hook/hook-bin.js')
const modules = [...program, ...view, ...(await buildHook(hook))]
writeFileSync(join(dist, 'THIRD-PARTY-LICENCES.txt'), licencesOf(modules))
// The README's links must work in the package too.
const documents = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'LICENSE']
for (const name of [...documents, 'schemas', 'docs', 'examples', 'plugins', '.claude-plugin']) {
  cpSync(join(root, name), join(dist, name), { recursive: true })
}
// The agent copies a plugin elsewhere, so the plugin contains its program.
cpSync(hook, join(dist, 'plugins/gantry-guard/dist/hook-bin.js'))
const { name, version, description, license, type, engines } = source
const published = {
  name,
  version,
  description,
  license,
  type,
  engines,
  bin: { gantry: 'cli/bin.js' },
  exports: {
    '.': { types: './types/src/index.d.ts', default: './index.js' },
    './types': { types: './types/src/library/plugin-types.d.ts', default: './types.js' },
    './schemas/*': './schemas/*',
    './package.json': './package.json',
  },
  dependencies: usedDependencies(),
}
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
console.log(`built ${name} ${version} in dist/`)

/** The compiler writes the types of every module. Users of the library need a sixth of them. */
function keepReachedTypes(entries: readonly string[]): void {
  const reached = new Set(entries)
  for (const file of reached) {
    const text = readFileSync(file, 'utf8')
    for (const [, path = ''] of text.matchAll(/(?:from |import\()['"](\.[^'"]+)\.ts['"]/g))
      reached.add(join(dirname(file), `${path}.d.ts`))
  }
  for (const file of globSync('types/**/*.d.ts', { cwd: dist, absolute: true }))
    if (!reached.has(file)) rmSync(file)
}

/** What the library and its types import. The program has everything else in it. */
function usedDependencies(): Record<string, string> {
  const files = globSync(['*.js', 'chunks/*.js', 'types/**/*.d.ts'], { cwd: dist, absolute: true })
  const text = files.map((file) => readFileSync(file, 'utf8')).join('\n')
  const isUsed = (dependency: string): boolean =>
    [`'${dependency}'`, `"${dependency}"`, `'${dependency}/`, `"${dependency}/`].some((word) =>
      text.includes(word),
    )
  return Object.fromEntries(
    Object.entries<string>(source.dependencies).filter(([dependency]) => isUsed(dependency)),
  )
}
