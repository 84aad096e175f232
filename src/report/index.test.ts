import { expect, test } from 'vitest'
import { openReporter, parseReporterSpec, reporterNames } from './index.ts'

test('a reporter is named alone or with a path, which may contain colons', () => {
  expect(parseReporterSpec('json')).toEqual({ name: 'json', path: null })
  expect(parseReporterSpec('junit:out/report.xml')).toEqual({ name: 'junit', path: 'out/report.xml' })
  expect(parseReporterSpec('html:C:\\out.html')).toEqual({ name: 'html', path: 'C:\\out.html' })
})

test('an unknown name is a usage error with the nearest name and the list', () => {
  expect(() => parseReporterSpec('junti:out.xml')).toThrow(
    expect.objectContaining({
      code: 'USAGE',
      message: 'There is no reporter "junti"; did you mean junit?',
      hint: 'Choose one of console, json, junit, tap, md, html, github, blob, or name a module such as ./reporter.js; add :PATH to write to a file.',
    }),
  )
  expect(() => parseReporterSpec('constructor')).toThrow('There is no reporter "constructor"')
  expect(() => parseReporterSpec('')).toThrow('There is no reporter ""')
})

test('a colon without a path is a usage error', () => {
  expect(() => parseReporterSpec('junit:')).toThrow(expect.objectContaining({ code: 'USAGE' }))
  expect(() => parseReporterSpec('blob')).toThrow('The reporter blob needs a directory.')
})

test('every name in the registry opens a reporter that ends a run', async () => {
  expect(reporterNames).toEqual(['console', 'json', 'junit', 'tap', 'md', 'html', 'github', 'blob'])
  for (const text of reporterNames) {
    const { name } = parseReporterSpec(`${text}:out`)
    const reporter = await openReporter(name, {
      sink: { write: () => {} },
      color: false,
      columns: 80,
      live: false,
    })
    expect(reporter.runEnded).toBeTypeOf('function')
  }
})
