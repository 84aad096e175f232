import { expect, test } from 'vitest'
import { fitLines } from './fit-lines.ts'
import { taskEventPrinter } from './task-event-printer.ts'

const at = (columns: number, { isTTY = true, env = {} } = {}) => {
  const written: string[] = []
  const stdout = { isTTY, columns, color: false, write: (text: string) => void written.push(text) }
  return { context: { stdout, env }, written }
}
const text = '  one two three'

test('a long line is wrapped below its beginning on a terminal and with COLUMNS, and whole in a pipe', () => {
  expect(fitLines(`${text} ${'x'.repeat(20)}`, at(30).context)).toEqual([text, `  ${'x'.repeat(20)}`])
  expect(fitLines(`\u001B[2m${text} ${'x'.repeat(20)}\u001B[22m`, at(30).context)).toEqual([
    `\u001B[2m${text}`,
    `  ${'x'.repeat(20)}\u001B[22m`,
  ])
  expect(fitLines(text, at(15).context)).toEqual([text])
  expect(fitLines(text, at(10, { isTTY: false }).context)).toEqual([text])
})

test('the first and the last line of a task fit into the terminal', () => {
  for (const { context, written } of [at(60), at(60, { isTTY: false, env: { COLUMNS: '60' } })]) {
    const print = taskEventPrinter(context, { verbose: false })
    const of = { ts: 1, task_id: 'task_20260101_000000_aaaaaa' }
    const words = 'every step passed, but the steps prove less than before: '.repeat(3).trim()
    print({
      ...of,
      ...{ kind: 'task_started', description: words, dry_run: false, agent: 'builtin', resumed: false },
      ...{ model: 'anthropic:claude', sandbox: 'bubblewrap 0.8.0', run_id: 'run_20260101_000000_aaaaaa' },
    })
    print({ ...of, kind: 'note', level: 'info', message: words })
    const lines = written.join('').trimEnd().split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60)
    expect(lines.filter((line) => /^\d\d:/.test(line))).toHaveLength(3)
    expect(lines.every((line) => /^(?:\d\d:\d\d:\d\d| {8}) {2}/.test(line))).toBe(true)
  }
})
