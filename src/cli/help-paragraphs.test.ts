import { Command } from 'commander'
import { expect, test } from 'vitest'
import { helpParagraphs } from './help-paragraphs.ts'

function help(columns: number, ...paragraphs: readonly string[]): string {
  let printed = ''
  new Command('it')
    .configureOutput({ writeOut: (text) => (printed += text), getOutHelpWidth: () => columns })
    .addHelpText('after', helpParagraphs(...paragraphs))
    .outputHelp()
  return printed
}

test('paragraphs below the options have the width of the help, with one blank line between them; examples are not wrapped', () => {
  const long = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ')
  const example = `  gantry task run "${'x'.repeat(80)}"`
  const printed = help(60, long, `Examples:\n${example}`)
  const lines = printed.split('\n')
  expect(lines.filter((line) => line !== example).every((line) => line.length <= 60)).toBe(true)
  expect(printed.replaceAll('\n', ' ')).toContain(long)
  expect(printed).toContain(`\n\nExamples:\n${example}\n`)
})

test('lines fit the width of the terminal', () => {
  const text = 'a '.repeat(100).trim()
  expect(help(20, text)).toContain('a '.repeat(20).trim())
  expect(help(300, text)).toContain(text)
})
