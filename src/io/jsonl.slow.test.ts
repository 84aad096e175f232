import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readJsonl } from './jsonl.ts'

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

describe('the writer', () => {
  test('lines of several processes do not mix', async () => {
    const path = freshPath()
    const program = `import { openJsonl } from ${JSON.stringify(join(import.meta.dirname, 'jsonl.ts'))}
      const log = openJsonl(${JSON.stringify(path)})
      for (let turn = 0; turn < 50; turn++) {
        for (let n = 0; n < 20; n++) log.append({ pid: process.pid, text: 'é'.repeat(200) })
        await new Promise(setImmediate)
      }
      log.close()`
    const children = [0, 1, 2].map(() =>
      spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' }),
    )
    await Promise.all(children.map((child) => once(child, 'exit')))
    const { values, bad } = await readAll(path)
    expect([values.length, bad]).toEqual([3000, []])
  })

  test('kill -9 loses at most what the last turn appended', async () => {
    const path = freshPath()
    const program = `import { openJsonl } from ${JSON.stringify(join(import.meta.dirname, 'jsonl.ts'))}
      const log = openJsonl(${JSON.stringify(path)})
      for (let n = 1; ; n++) {
        log.append({ n })
        await new Promise(setImmediate)
        process.stdout.write(n + '\\n')
      }`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    for await (const chunk of child.stdout) {
      printed += chunk
      if (printed.length > 2000) child.kill('SIGKILL')
    }
    const lastPrinted = Number(printed.slice(0, printed.lastIndexOf('\n')).split('\n').at(-1))
    const { values } = await readAll(path)
    expect(values.length).toBeGreaterThanOrEqual(lastPrinted)
  })
})
