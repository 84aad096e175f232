import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { exec } from '../../io/exec.ts'
import { keepSource, treeChanges } from './tree-changes.ts'

async function project() {
  const fixture = await createFixture({ 'app/a.py': 'x = 1\n', 'other.py': 'y = 1\n', file: '' })
  const root = join(fixture.path, 'app')
  return { fixture, root, trees: join(fixture.path, 'trees'), path: join(root, 'a.py') }
}

const limits = { env: { PATH: process.env.PATH ?? '' }, timeoutMs: 60_000, maxOutputBytes: 1024 }

test('a source that was kept decides only with the content of its id', async () => {
  const { fixture, root, trees, path } = await project()
  await using _ = fixture
  await exec({ argv: ['git', 'init', '-q'], cwd: root, ...limits })
  keepSource(trees, root, path)
  const [id = ''] = readdirSync(`${trees}.sources`)
  writeFileSync(path, '# more\nx = 1\n')
  const listed = new Map(
    ['old', 'new'].map((tree) => [tree, [`100644 ${tree} ${tree === 'old' ? id : 'b'} \ta.py`]]),
  )
  const isCode = async () => {
    const how = {
      root,
      trees,
      listed,
      tree: 'new',
      earlier: ['old'],
      commands: [],
      documentation: ['docs/**'],
    }
    return (await treeChanges(how)).old?.isCode
  }
  expect(await isCode()).toBe(false)
  const kept = join(`${trees}.sources`, id)
  writeFileSync(path, '# more\nx = 2\n')
  writeFileSync(kept, 'x = 2\n')
  expect(readFileSync(kept, 'utf8')).toBe('x = 2\n')
  expect(await isCode()).toBe(true)
})

test('a file outside of the project is not kept, and a place that cannot be written keeps none', async () => {
  const { fixture, root, trees, path } = await project()
  await using _ = fixture
  keepSource(trees, root, join(fixture.path, 'other.py'))
  expect(readdirSync(fixture.path)).not.toContain('trees.sources')
  expect(() => keepSource(join(fixture.path, 'file/trees'), root, path)).not.toThrow()
})
