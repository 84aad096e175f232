import { expect, test } from 'vitest'
import { palette } from './console/palette.ts'
import { sectionLines } from './console/section-lines.ts'
import type { ReportSection } from './contract.ts'
import { sectionHtml } from './html/case-tables.ts'
import { sectionMarkdown } from './md/md.ts'

const section: ReportSection = {
  title: 'Components',
  lead: 'What fired when it should.',
  columns: [{ title: 'component' }, { title: 'recall', align: 'right' }, { title: 'remark' }],
  rows: [
    ['skill:greet', '90%', 'a | b <script>'],
    ['skill:part', '10%', 'x\u001b[31my'],
  ],
}

test('a section of a face is a table that fits the terminal, without control codes', () => {
  const lines = sectionLines(section, 40, palette(false, false))
  expect(lines.join('\n')).toContain('skill:greet')
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40)
  expect(lines.join('')).not.toContain('\u001b')
})

test('a long text is wrapped and never cut', () => {
  const long = { ...section, rows: [['skill:greet', '90%', 'say in each description what the other is for']] }
  const lines = sectionLines(long, 48, palette(false, false))
  expect(lines.slice(-2)).toEqual([
    '  skill:greet     90%  say in each description',
    '                       what the other is for',
  ])
})

test('on a terminal too narrow for the table each row is shown below its name', () => {
  const lines = sectionLines(section, 24, palette(false, false))
  expect(lines.slice(-7)).toEqual([
    '  skill:greet',
    '    recall: 90%',
    '    remark: a | b',
    '      <script>',
    '  skill:part',
    '    recall: 10%',
    '    remark: xy',
  ])
})

test('in Markdown and HTML foreign text starts no markup', () => {
  expect(sectionMarkdown(section)).toContain(String.raw`a \| b &lt;script&gt;`)
  expect(sectionHtml(section)).not.toContain('<script>')
})

test('a section without rows is its sentence', () => {
  const empty = { ...section, rows: [] }
  expect(sectionMarkdown(empty)).not.toContain('|')
  expect(sectionHtml(empty)).not.toContain('<table')
  expect(sectionLines(empty, 80, palette(false, false)).join('\n')).not.toContain('recall')
})
