import { describe, expect, test } from 'vitest'
import { parsePlan } from './parse-plan.ts'

function tasksOf(text: string): string[] {
  return parsePlan(text).tasks.map(({ title, done }) => `${done ? 'x' : 'o'} ${title}`)
}

describe('a plan', () => {
  test('has a task for every checkbox at the start of a line', () => {
    expect(tasksOf('# Plan\n- [ ] one\n- [x] two\n* [X] three\n+ [ ] four\ntext\n')).toEqual([
      'o one',
      'x two',
      'x three',
      'o four',
    ])
  })

  test('has no done tasks when fresh and no open tasks when finished', () => {
    expect(tasksOf('- [ ] a\n- [ ] b')).toEqual(['o a', 'o b'])
    expect(tasksOf('- [x] a\n- [x] b')).toEqual(['x a', 'x b'])
    expect(tasksOf('')).toEqual([])
  })

  test('has the line and the details of each task', () => {
    const text =
      '# Plan\n\n- [ ] one\n  - Depends on: none\n\n  - [ ] a case\n\n- [x] two\n## Notes\nnothing\n'
    expect(parsePlan(text).tasks).toEqual([
      { title: 'one', line: 3, done: false, details: ['  - Depends on: none', '', '  - [ ] a case'] },
      { title: 'two', line: 8, done: true, details: [] },
    ])
  })

  test('may have Windows or old Mac line endings and a byte order mark', () => {
    expect(tasksOf('\uFEFF- [ ] one\r\n- [x] two\r\n')).toEqual(['o one', 'x two'])
    expect(tasksOf('- [ ] one\r- [x] two')).toEqual(['o one', 'x two'])
  })

  test('may have quotes, escapes and emphasis in its titles', () => {
    const title = 'say "hi" \\ `x` $(rm -rf /) \' | & ; <b> 日本'
    expect(tasksOf(`- [ ] ${title}`)).toEqual([`o ${title}`])
  })

  test('loses no task because of unusual line separators or a line built to be slow', () => {
    expect(tasksOf('- [ ] one\u2028more\n- [ ] two')).toEqual(['o one\u2028more', 'o two'])
    const slow = [`# ${'\t'.repeat(3e5)}x`, `- ${'`a'.repeat(2e5)}`, `- [ ] ${' '.repeat(3e5)}x`]
    expect(parsePlan(['## Verification', ...slow].join('\n')).tasks).toHaveLength(1)
  })

  test('may have tasks without a title', () => {
    expect(tasksOf('- [ ]\n- [ ]   ')).toEqual(['o task on line 1', 'o task on line 2'])
  })

  test('has no tasks in code or in comments', () => {
    const text = [
      '```md',
      '- [ ] example',
      '```',
      '~~~',
      '- [ ] other',
      '```',
      '~~~~',
      '<!--',
      '- [ ] old',
      '-->',
      '<!-- - [ ] short -->',
      '- [ ] real',
    ].join('\n')
    expect(tasksOf(text)).toEqual(['o real'])
  })

  test.each(['```', '~~~~', '<!--', '````\n```'])('keeps the tasks after an unclosed %j', (opening) => {
    expect(tasksOf(`${opening}\n- [ ] hidden?`)).toEqual(['o hidden?'])
  })

  test('does not count other marks', () => {
    expect(tasksOf('- [-] gone\n- [?] what\n- [] no\n-[ ] no\n -[ ] no\n- [ ]no')).toEqual([])
  })

  test('may have ten thousand tasks', () => {
    const text = Array.from({ length: 10_000 }, (_, index) => `- [${index % 2 ? 'x' : ' '}] task ${index}`)
    expect(tasksOf(text.join('\n'))).toHaveLength(10_000)
  })

  test('declares only the commands of its Verification section', () => {
    const text = [
      '## Tasks',
      '- [ ] run `npm run nothing`',
      '## Verification',
      'Source: `AGENTS.md`, written down in `package.json`.',
      '- `npm test` (from `package.json`)',
      '- run `ruff check .` at the end',
      '- [ ] `make ci`',
      '- `tox`',
      '- the files in `src/app/` and the class `Parser`',
      '- `npx vitest run <file>`',
      '### By hand',
      '- ``echo `date` && ./check.sh``',
      '## Notes',
      '- `npm start`',
    ].join('\n')
    expect(parsePlan(text).verification).toEqual([
      'npm test',
      'ruff check .',
      'make ci',
      'tox',
      'echo `date` && ./check.sh',
    ])
  })
})
