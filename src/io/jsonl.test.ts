import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { GantryError } from '../core/error.ts'
import { openJsonl, readJsonl, readJsonlBatches } from './jsonl.ts'

const root = mkdtempSync(join(tmpdir(), 'gantry-jsonl-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let made = 0
const freshPath = (): string => join(root, `${made++}.jsonl`)

async function readAll(path: string): Promise<{ values: unknown[]; bad: [string, number][] }> {
  const values: unknown[] = []
  const bad: [string, number][] = []
  for await (const value of readJsonl(path, (line, number) => bad.push([line, number]))) values.push(value)
  return { values, bad }
}

function written(content: string | Uint8Array): string {
  const path = freshPath()
  writeFileSync(path, content)
  return path
}

describe('the writer', () => {
  test('any values are read back unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 20 }), async (values) => {
        const path = freshPath()
        const log = openJsonl(path)
        for (const value of values) log.append(value)
        log.close()
        const expected = values.map((value) => JSON.parse(JSON.stringify(value)))
        expect(await readAll(path)).toEqual({ values: expected, bad: [] })
      }),
      { numRuns: 30 },
    )
  })

  test('flush writes everything at once', () => {
    const path = freshPath()
    const log = openJsonl(path)
    log.append({ a: 1 })
    log.flush()
    expect(readFileSync(path, 'utf8')).toBe('{"a":1}\n')
    log.close()
    log.close()
    expect(() => log.append({})).toThrow('closed')
  })

  test('appended lines are written in the next turn of the event loop', async () => {
    const path = freshPath()
    const log = openJsonl(path)
    log.append({ a: 1 })
    log.append({ a: 2 })
    await new Promise((resolve) => setImmediate(resolve))
    expect(readFileSync(path, 'utf8')).toBe('{"a":1}\n{"a":2}\n')
    log.close()
  })

  test('memory stays bounded without a flush', () => {
    const path = freshPath()
    const log = openJsonl(path)
    for (let index = 0; index < 10; index++) log.append('x'.repeat(20_000))
    expect(readFileSync(path).length).toBeGreaterThan(130_000)
    log.close()
    expect(readFileSync(path).length).toBe(10 * 20_003)
  })

  test('a torn last line is ended before the first new one', async () => {
    const path = written('{"a":1}\n{"a":')
    const log = openJsonl(path)
    log.append({ a: 3 })
    log.close()
    expect(await readAll(path)).toEqual({ values: [{ a: 1 }, { a: 3 }], bad: [['{"a":', 2]] })
  })

  test('a full disk is reported by code, and no appended line is lost', () => {
    const log = openJsonl('/dev/full')
    log.append({ a: 1 })
    const codeOf = (act: () => void): string => {
      try {
        act()
        return 'none'
      } catch (error) {
        return error instanceof GantryError ? error.code : String(error)
      }
    }
    expect(codeOf(() => log.flush())).toBe('NO_SPACE')
    expect(codeOf(() => log.append({ a: 2 }))).toBe('NO_SPACE')
    expect(codeOf(() => log.close())).toBe('NO_SPACE')
    expect(codeOf(() => log.close())).toBe('none')
  })

  test('a full disk in the background fails the next call, not the process', async () => {
    const log = openJsonl('/dev/full')
    log.append({ a: 1 })
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(() => log.append({ a: 2 })).toThrow(GantryError)
    expect(() => log.close()).toThrow(GantryError)
  })

  test('a path that cannot be written is reported by code', () => {
    expect(() => openJsonl(root)).toThrow(expect.objectContaining({ code: 'NOT_WRITABLE' }))
  })

  test('a value that JSON cannot represent is refused', () => {
    const log = openJsonl(freshPath())
    expect(() => log.append(undefined)).toThrow(TypeError)
    log.close()
  })
})

describe('the reader', () => {
  test('bad lines are reported with their number, and blank ones skipped', async () => {
    const path = written('{"a":1}\n\nnope\r\n{"a":2}\r\n[\n\n{"a":3}\n')
    expect(await readAll(path)).toEqual({
      values: [{ a: 1 }, { a: 2 }, { a: 3 }],
      bad: [
        ['nope', 3],
        ['[', 5],
      ],
    })
  })

  test('a torn last line is skipped silently, a complete one without newline is read', async () => {
    expect(await readAll(written('{"a":1}\n{"a":2'))).toEqual({ values: [{ a: 1 }], bad: [] })
    expect(await readAll(written('{"a":1}\n12'))).toEqual({ values: [{ a: 1 }], bad: [] })
    expect(await readAll(written('{"a":1}\n{"a":2}'))).toEqual({ values: [{ a: 1 }, { a: 2 }], bad: [] })
    expect(await readAll(written(''))).toEqual({ values: [], bad: [] })
  })

  test('lines longer than a chunk and characters across its border are read right', async () => {
    const values = [3, 250_000, 1_000_000, 7, 262_144].map((length) => ({ text: '€'.repeat(length) }))
    const path = written(values.map((value) => `${JSON.stringify(value)}\n`).join(''))
    expect((await readAll(path)).values).toEqual(values)
    for (let shift = 0; shift < 4; shift++) {
      const lines = Array.from({ length: 3000 }, (_, index) => ({ index, text: '€😀é'.repeat(30) }))
      const shifted = written(
        `"${'x'.repeat(shift)}"\n${lines.map((line) => JSON.stringify(line)).join('\n')}\n`,
      )
      expect((await readAll(shifted)).values.slice(1)).toEqual(lines)
    }
  })

  test('batches hold the same values in the same order', async () => {
    const lines = Array.from({ length: 50_000 }, (_, index) => ({ index }))
    const path = written(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const batches: unknown[][] = []
    for await (const batch of readJsonlBatches(path)) batches.push(batch)
    expect(batches.length).toBeGreaterThan(1)
    expect(batches.length).toBeLessThan(50)
    expect(batches.flat()).toEqual(lines)
  })

  test('leaving early closes the file', async () => {
    const path = written('{"a":1}\n'.repeat(100_000))
    for await (const value of readJsonl(path)) {
      expect(value).toEqual({ a: 1 })
      break
    }
    appendFileSync(path, '')
  })

  test('a missing file is an error of the system', async () => {
    await expect(readAll(join(root, 'nowhere.jsonl'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
