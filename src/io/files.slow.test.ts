import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readJsonIfExists, removeTree } from './files.ts'

const here = join(import.meta.dirname, 'files.ts')
let dir = ''
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gantry-files-'))
})
afterAll(() => removeTree(dir))

describe('atomic writing', () => {
  test('writers in several processes never let a reader see half a file', async () => {
    const path = join(dir, 'shared.json')
    const program = (id: number) => `
      import { writeJsonAtomic } from ${JSON.stringify(here)}
      for (let n = 0; n < 150; n += 1) writeJsonAtomic(${JSON.stringify(path)}, { id: ${id}, n, fill: '${id}'.repeat(20_000) })`
    const writers = [1, 2, 3].map((id) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', program(id)]),
    )
    let open = true
    const all = Promise.all(writers).finally(() => {
      open = false
    })
    let reads = 0
    while (open) {
      const value = readJsonIfExists(path)
      if (value !== undefined) reads += 1
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await all
    expect(reads).toBeGreaterThan(0)
    expect(readdirSync(dir)).toEqual(['shared.json'])
  })
})
