import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import type { DeclaredCommand } from '../contract.ts'
import { inspectTests } from './inspect-tests.ts'
import { weakenings } from './weakenings.ts'

/** One line of the corpus: a declared command, and files that are added or changed between two snapshots. */
interface Case {
  readonly name: string
  readonly command: string
  readonly kind?: DeclaredCommand['kind']
  /** Other commands that are known. */
  readonly also?: readonly string[]
  readonly before: Readonly<Record<string, string>>
  readonly after: Readonly<Record<string, string>>
  /** Whether the change is reported. */
  readonly named: boolean
}

const file = join(import.meta.dirname, '../../../test/corpus/guard/changed-definitions.jsonl')
const cases = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line): Case => JSON.parse(line))

test('the corpus is large and its names are unique', () => {
  expect(cases.length).toBeGreaterThanOrEqual(50)
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
})

test.each(cases)('$name', async ({ command, kind = 'test', also = [], before, after, named }) => {
  await using old = await createFixture({ ...before })
  await using changed = await createFixture({ ...before, ...after })
  const declared = [command, ...also].map((each) => ({ command: each, kind }))
  const found = weakenings(await inspectTests(old.path, declared), await inspectTests(changed.path, declared))
  expect(found).toEqual(
    named ? [expect.stringContaining(`the definition of ${JSON.stringify(command)} changed`)] : [],
  )
})

test('a definition contains no registry key', async () => {
  const secret = 'npm_abcdefghijklmnopqrstuvwxyz0123456789'
  await using project = await createFixture({
    '.npmrc': `//localhost/:_authToken=${secret}\nscript-shell=/bin/sh\n`,
    'package.json': JSON.stringify({ scripts: { test: 'vitest run' } }),
  })
  const { definitions } = await inspectTests(project.path, [{ command: 'npm test', kind: 'test' }])
  expect(definitions['npm test']).toContain('.npmrc: script-shell=/bin/sh')
  expect(JSON.stringify(definitions)).not.toContain(secret)
})
