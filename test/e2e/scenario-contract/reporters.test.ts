import { XMLParser } from 'fast-xml-parser'
import { describe, expect, test } from 'vitest'
import { unpacked } from '../../support/sample-run.ts'
import { gantry, gantryTest } from '../support/gantry.ts'
import { smallProject, smallScenario, type TestProject, writes } from '../support/project.ts'

const names = ['console', 'json', 'junit', 'tap', 'md', 'html', 'github'] as const
const hostile = 'a <blink> & "c" ]]> \u0001 | # *x*'

/** One passes, one fails, one is invalid. */
function mixed(): TestProject {
  return smallProject({
    files: {
      'scenarios/case.yaml': smallScenario({ name: 'good one' }),
      'scenarios/bad.yaml': smallScenario({
        name: 'bad <one>',
        evaluation: {
          gates: [
            {
              type: 'script',
              command: `printf '%s' ${JSON.stringify(JSON.stringify({ passed: false, message: hostile }))}`,
              description: 'd',
            },
          ],
        },
      }),
      'scenarios/broken.yaml': smallScenario({ name: 'broken one', setup: { commands: ['exit 7'] } }),
    },
  })
}

async function reports(
  project: TestProject,
): Promise<Record<(typeof names)[number], string> & { code: number | null }> {
  const files = names.filter((name) => name !== 'console')
  const argv = files.flatMap((name) => ['--reporter', `${name}:out/${name}`])
  const { code, stdout } = await gantry(project, ['test', '--no-cache', '--infra-retries', '0', ...argv])
  const texts = Object.fromEntries(files.map((name) => [name, project.read(`out/${name}`)]))
  return { ...texts, console: stdout, code } as never
}

describe('every reporter', () => {
  test('shows the failed trial as failed and says why', async () => {
    using project = mixed()
    const { code, ...texts } = await reports(project)
    expect(code).toBe(1)
    for (const name of names) {
      expect(texts[name], name).toMatch(/bad /)
      expect(texts[name], name).toMatch(/fail|not ok|❌|✗/i)
      expect(texts[name], name).toContain('a ')
    }
  })

  test('agrees on the numbers', async () => {
    using project = mixed()
    const texts = await reports(project)
    const { summary } = JSON.parse(texts.json) as { summary: { counts: unknown } }
    expect(summary.counts).toEqual({ pass: 1, fail: 1, infra: 0, invalid: 1 })
    const xml = new XMLParser({ ignoreAttributes: false }).parse(texts.junit) as Record<
      string,
      Record<string, string>
    >
    expect(xml.testsuites).toMatchObject({ '@_tests': '3', '@_failures': '1', '@_errors': '1' })
    expect(texts.tap.match(/^not ok/gm)).toHaveLength(2)
    expect(texts.tap.match(/^ok/gm)).toHaveLength(1)
    expect(texts.tap).toContain('1..3')
    expect(texts.console).toMatch(/1 passed.*1 failed/)
    expect(texts.console).toMatch(/1 trial is invalid/)
  })

  test('escapes what a hostile tool prints', async () => {
    using project = mixed()
    const texts = await reports(project)
    expect(texts.junit).not.toContain('<blink>')
    expect(texts.junit).not.toContain('\u0001')
    expect(texts.html).not.toContain('<blink>')
    expect(texts.html).not.toContain('bad <one>')
    expect(texts.console).not.toContain('\u0001')
  })

  test('HTML is one file with the transcript and nothing from elsewhere', async () => {
    using project = smallProject({ turns: [{ say: 'I was here.' }, writes('done.txt')] })
    await gantry(project, ['test', '--reporter', 'html:report.html'])
    const html = unpacked(project.read('report.html'))
    expect(html).toContain('I was here.')
    expect(html).toContain('+++ done.txt')
    expect(html).not.toMatch(/(src|href)="https?:/)
    expect(html).not.toContain('<link')
  })
})

describe('--json', () => {
  test('prints one document and nothing else on standard output', async () => {
    using project = mixed()
    const { stdout } = await gantry(project, ['test', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ run_id: expect.any(String), run_dir: expect.any(String) })
  })

  test('has every field a program needs of a trial', async () => {
    using project = mixed()
    const { trials } = await gantryTest(project)
    for (const key of [
      ...[
        'case',
        'agent',
        'model',
        'attempt',
        'verdict',
        'reason',
        'gates',
        'metrics',
        'judge',
        'evaluators',
      ],
      ...['score', 'tier', 'costUsd', 'durationMs', 'dir'],
    ])
      expect(trials[0]).toHaveProperty(key)
  })
})

describe('--reporter', () => {
  test.each<[string, string[], RegExp]>([
    ['an unknown name', ['--reporter', 'jnuit'], /did you mean junit/],
    ['a colon without a path', ['--reporter', 'md:'], /no path/],
    ['two on standard output', ['--reporter', 'json', '--reporter', 'tap'], /mix on standard output/],
    ['the same twice', ['--reporter', 'md:a', '--reporter', 'md:a'], /named twice/],
  ])('%s is refused', async (_what, argv, message) => {
    using project = smallProject()
    const { code, stderr } = await gantry(project, ['test', ...argv])
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  test('keeps the console beside reports that go to files', async () => {
    using project = smallProject()
    const { stdout } = await gantry(project, ['test', '--reporter', 'md:report.md'])
    expect(stdout).toContain('1 passed')
    expect(project.read('report.md')).toContain('case')
  })

  test('github writes annotations to the log and its summary where GitHub wants it', async () => {
    using project = mixed()
    const env = { GITHUB_STEP_SUMMARY: project.path('summary.md') }
    const { stdout } = await gantry(project, ['test', '--reporter', 'github'], { env })
    expect(stdout).toMatch(/^::error/m)
    expect(project.read('summary.md')).toContain('bad')
  })
})

test('the console explains a failure: the gate, what it found, and where to look', async () => {
  using project = smallProject({
    turns: [],
    gates: [{ type: 'file_contains', path: 'AGENTS.md', substring: 'milk' }],
  })
  const { stdout } = await gantry(project, ['test'])
  for (const part of ['case', 'file_contains', 'AGENTS.md', 'milk', '1 failed', 'run_'])
    expect(stdout).toContain(part)
  expect(stdout).not.toContain('\u001b[')
})
