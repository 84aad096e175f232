import { readdirSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { sampleRecord, sampleRecords, sampleRun, textSink } from '../../test/support/sample-run.ts'
import type { Reporter } from './contract.ts'
import { parseReporterSpec } from './index.ts'
import { composeReporters, openReporters, type ReportOutlet } from './open-reporters.ts'

function outlet(
  cwd: string,
  more: Partial<ReportOutlet> = {},
): ReportOutlet & { readonly text: () => string } {
  const { write, text } = textSink()
  return { stdout: { write, isTTY: false, columns: 80, color: false }, env: {}, cwd, text, ...more }
}

const specs = (...texts: string[]) => texts.map(parseReporterSpec)

test('each reporter writes to its own sink, with files relative to the working directory', async () => {
  await using dir = await createFixture({})
  const place = outlet(dir.path)
  const reporter = await openReporters(specs('json', 'junit:out/junit.xml', 'html:out/report.html'), place)
  await reporter.runEnded(sampleRun(sampleRecords))
  expect(JSON.parse(place.text())).toMatchObject({ schema_version: 1 })
  expect(await dir.readFile('out/junit.xml', 'utf8')).toContain('<testsuites')
  expect(await dir.readFile('out/report.html', 'utf8')).toContain('</html>')
  expect(readdirSync(dir.getPath('out')).sort()).toEqual(['junit.xml', 'report.html'])
  expect(reporter.problems()).toEqual([])
})

test('an unwritable path breaks only its own reporter', async () => {
  await using dir = await createFixture({ file: '' })
  const place = outlet(dir.path)
  const reporter = await openReporters(specs('junit:file/x.xml', 'json:ok.json', 'console'), place)
  await reporter.runEnded(sampleRun(sampleRecords))
  expect(reporter.problems()).toEqual([
    { name: 'junit:file/x.xml', error: expect.objectContaining({ code: 'NOT_WRITABLE' }) },
  ])
  expect(JSON.parse(await dir.readFile('ok.json', 'utf8'))).toMatchObject({ schema_version: 1 })
  expect(place.text()).toContain('FAIL')
})

test('an unfinished report leaves no file', async () => {
  await using dir = await createFixture({})
  const reporter = await openReporters(specs('json:out.json'), outlet(dir.path))
  const records = () => {
    throw new Error('disk gone')
  }
  await reporter.runEnded(sampleRun(sampleRecords, { records }))
  expect(reporter.problems()).toHaveLength(1)
  expect(readdirSync(dir.path)).toEqual([])
})

test('reporters that would mix on standard output are rejected', async () => {
  await expect(openReporters(specs('json', 'console'), outlet('/'))).rejects.toMatchObject({
    code: 'USAGE',
    hint: 'Send one of them to a file: json:PATH',
  })
  await expect(openReporters(specs('json:a', 'json:a'), outlet('/'))).rejects.toMatchObject({ code: 'USAGE' })
  await expect(openReporters(specs('console', 'github'), outlet('/'))).resolves.toBeDefined()
})

test('the step summary is appended to that of other steps, or written to the given path', async () => {
  await using dir = await createFixture({ 'summary.md': 'before\n' })
  const place = outlet(dir.path, { env: { GITHUB_STEP_SUMMARY: dir.getPath('summary.md') } })
  for (const spec of ['github', 'github:own.md'])
    await (await openReporters(specs(spec), place)).runEnded(sampleRun(sampleRecords))
  expect(await dir.readFile('summary.md', 'utf8')).toMatch(/^before\n# ❌ FAIL/)
  expect(await dir.readFile('own.md', 'utf8')).toMatch(/^# ❌ FAIL/)
  expect(
    place
      .text()
      .split('\n')
      .filter((line) => line.startsWith('::')),
  ).toHaveLength(6)
  expect(place.text()).not.toContain('# ❌')
})

test('the terminal decides between live and plain, UTF-8 and ASCII', async () => {
  const seen = async (env: ReportOutlet['env'], isTTY = true): Promise<string> => {
    const sink = textSink()
    const stdout = { write: sink.write, isTTY, columns: 80, color: false }
    const reporter = await openReporters(specs('console'), { stdout, env, cwd: '/' })
    const run = sampleRun(sampleRecords)
    reporter.runStarted(run)
    await reporter.runEnded(run)
    return sink.text()
  }
  expect(await seen({ LANG: 'en_US.UTF-8' })).toMatch(/\u001b[\s\S]*✗ FAIL/)
  expect(await seen({ LANG: 'C' }, false)).toContain('x FAIL')
  expect(await seen({ LANG: 'C', LC_ALL: 'C.UTF-8' }, false)).toContain('✗ FAIL')
  const dumb = await seen({ TERM: 'dumb' })
  expect(dumb).toContain('x FAIL')
  expect(dumb).not.toContain('\u001b')
})

function remembering(): { readonly reporter: Reporter; readonly calls: string[] } {
  const calls: string[] = []
  return {
    calls,
    reporter: {
      runStarted: () => void calls.push('runStarted'),
      trialStarted: () => void calls.push('trialStarted'),
      trialEnded: () => void calls.push('trialEnded'),
      note: () => void calls.push('note'),
      runEnded: async () => void calls.push('runEnded'),
    },
  }
}

test('everything is forwarded to all reporters, even to those with few hooks', async () => {
  const [a, b] = [remembering(), remembering()]
  const composed = composeReporters({ a: a.reporter, none: {}, b: b.reporter })
  const run = sampleRun([])
  composed.runStarted(run)
  composed.trialStarted(sampleRecord())
  composed.note({ level: 'info', message: 'hello' })
  composed.trialEnded(sampleRecord())
  await composed.runEnded(run)
  expect(a.calls).toEqual(['runStarted', 'trialStarted', 'note', 'trialEnded', 'runEnded'])
  expect(b.calls).toEqual(a.calls)
  expect(composed.problems()).toEqual([])
})

test('a reporter that throws is skipped from then on and reported at the end; the others continue', async () => {
  const healthy = remembering()
  const broken = remembering()
  const error = new Error('no space')
  broken.reporter.trialEnded = () => {
    throw error
  }
  const late = { runEnded: () => Promise.reject(new Error('unwritable')) }
  const composed = composeReporters({ broken: broken.reporter, late, healthy: healthy.reporter })
  composed.runStarted(sampleRun([]))
  composed.trialEnded(sampleRecord())
  composed.trialEnded(sampleRecord())
  await composed.runEnded(sampleRun([]))
  expect(healthy.calls).toEqual(['runStarted', 'trialEnded', 'trialEnded', 'runEnded'])
  expect(broken.calls).toEqual(['runStarted'])
  expect(composed.problems()).toEqual([
    { name: 'broken', error },
    { name: 'late', error: new Error('unwritable') },
  ])
})
