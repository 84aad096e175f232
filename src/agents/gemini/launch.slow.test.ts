import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { blockingOutput } from './launch.ts'

const length = 1_000_000
const printAndLeave = `
  process.stdout.write('x'.repeat(${length}) + JSON.stringify(process.env.NODE_OPTIONS ?? null))
  process.exit(0)
`

test.each([undefined, '--no-warnings --stack-trace-limit=5'])(
  'a program that exits during its output prints all of it, and keeps NODE_OPTIONS %j',
  async (before) => {
    const text = await outputOf(blockingOutput(before))
    expect(text.slice(0, length)).toBe('x'.repeat(length))
    expect(JSON.parse(text.slice(length))).toBe(before ?? null)
  },
)

/** Read by a slow process, over a real pipe. */
async function outputOf(options: string): Promise<string> {
  const child = spawn('sh', ['-c', '"$0" -e "$1" | (sleep 0.3; cat)', process.execPath, printAndLeave], {
    env: { ...process.env, NODE_OPTIONS: options },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  for await (const chunk of child.stdout) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
