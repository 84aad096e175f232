import { expect, test } from 'vitest'
import { documentName, outputFormats, parseOutput } from './write-document.ts'

test('a format is given alone or with a path', () => {
  expect(parseOutput('tap')).toEqual({ name: 'tap', format: 'tap', path: null })
  expect(parseOutput('junit')).toEqual({ name: 'junit', format: 'junit-xml', path: null })
  expect(parseOutput('junit-xml:out/a:b.xml')).toEqual({
    name: 'junit-xml',
    format: 'junit-xml',
    path: 'out/a:b.xml',
  })
})

test.each([
  ['junit-xm', 'Did you mean junit-xml?'],
  ['pdf', 'Choose one of'],
  ['json:', 'Write json for standard output'],
  ['', 'Choose one of'],
])('%j is rejected with a hint', (text, hint) => {
  expect(() => parseOutput(text)).toThrow(
    expect.objectContaining({ code: 'USAGE', hint: expect.stringContaining(hint) }),
  )
})

test('every format has its own file name in the run directory', () => {
  expect(new Set(outputFormats.map(documentName)).size).toBe(outputFormats.length)
})
