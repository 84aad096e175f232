import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject, type TestProject } from '../support/project.ts'
import { filesWith, shellAgent, verdictsOf } from './lab.ts'

const template = 'fixtures/template'

/** As YAML refers to a variable of the caller. */
function variable(name: string): string {
  return `$\{${name}}`
}

describe('a template with a link out of its root', () => {
  test.each<[string, (project: TestProject) => void, string]>([
    ['absolute', (project) => symlinkSync('/etc/passwd', project.path(`${template}/leak`)), 'leak'],
    ['relative', (project) => symlinkSync('../../gantry.yaml', project.path(`${template}/leak`)), 'leak'],
    [
      'through another link',
      (project) => {
        mkdirSync(project.path(`${template}/sub`))
        symlinkSync('..', project.path(`${template}/sub/up`))
        symlinkSync('sub/up/../../gantry.yaml', project.path(`${template}/leak`))
      },
      'leak',
    ],
    ['of a directory', (project) => symlinkSync('/etc', project.path(`${template}/leak`)), 'leak'],
    [
      'in initial-state',
      (project) => {
        mkdirSync(project.path(`${template}/initial-state`))
        symlinkSync('../../../gantry.yaml', project.path(`${template}/initial-state/leak`))
      },
      'leak',
    ],
    [
      'from initial-state into the rest of the template',
      (project) => {
        mkdirSync(project.path(`${template}/initial-state`))
        symlinkSync('../AGENTS.md', project.path(`${template}/initial-state/leak`))
      },
      'leak',
    ],
  ])('(%s) is refused and nothing of the outside is copied', async (_how, make, name) => {
    using project = smallProject()
    make(project)
    const { code, stdout, stderr } = await gantry(project, ['test'])
    expect(stderr).toMatch(/^error: .*case\.yaml:\d+:\d+: /)
    expect(stderr).toContain(`the link ${name} leads out of ${project.path(template)}`)
    expect(stderr).toMatch(/\nhint: {2}Remove it, or point it to a path inside the directory\./)
    expect(stderr).not.toContain('bug:')
    expect(code).toBe(2)
    expect(stdout).not.toContain('PASS')
    expect(filesWith(project.store, 'root:x:0')).toEqual([])
  })

  test('that stays inside is copied as it is', async () => {
    using project = smallProject({ gates: [{ type: 'file_contains', path: 'link', substring: 'Write' }] })
    symlinkSync('AGENTS.md', project.path(`${template}/link`))
    expect((await gantryTest(project)).code).toBe(0)
  })

  test('is reported by validation', async () => {
    using project = smallProject()
    symlinkSync('/etc/passwd', project.path(`${template}/leak`))
    const { code, stdout } = await gantry(project, ['scenario', 'validate'])
    expect(stdout).toMatch(/case\.yaml:\d+:\d+: .*the link leak leads out of /)
    expect(code).toBe(2)
  })
})

describe('a hostile agent', () => {
  const leaks = [
    { type: 'file_exists', path: 'leak' },
    { type: 'file_contains', path: 'leak', substring: 'treasure' },
    { type: 'file_matches', path: 'leak', pattern: 'treasure' },
  ]

  test.each<[string, string]>([
    ['an absolute link', 'ln -s "$TREASURE" leak'],
    ['a relative link', 'ln -s ../../../../../../project/treasure leak'],
    ['a link behind a link', 'ln -s "$TREASURE" hop && ln -s hop leak'],
    ['a link to its own transcript', 'echo treasure && ln -s ../transcript.raw.txt leak'],
    ['a FIFO', 'mkfifo leak'],
    ['a device', 'ln -s /dev/zero leak'],
    ['a link to itself', 'ln -s leak leak'],
    ['an endless /proc file', 'ln -s /proc/self/environ leak'],
  ])('that makes %s before the file gates run gets nothing read', async (_what, command) => {
    using project = smallProject({
      gates: leaks,
      config: shellAgent({ env: { TREASURE: variable('TREASURE') } }),
      files: { 'agent.sh': command, treasure: 'the treasure\n' },
    })
    const result = await gantryTest(project, [], { env: { TREASURE: project.path('treasure') } })
    const trial = onlyTrial(result)
    expect(result.code).toBe(1)
    expect(trial.verdict).toBe('fail')
    const contents = trial.gates.slice(1)
    expect(contents.map(({ passed }) => passed)).toEqual([false, false])
    for (const { message } of contents)
      expect(message).toMatch(/^'?leak'? (is not read: |is a FIFO|is a socket or a device|does not exist)/)
  })

  test('that swaps a directory for a link out gets nothing read through it', async () => {
    using project = smallProject({
      gates: [{ type: 'file_contains', path: 'data/treasure', substring: 'treasure' }],
      config: shellAgent(),
      files: {
        'agent.sh': 'rm -r data && ln -s ../../../../../../project data',
        treasure: 'the treasure\n',
        [`${template}/data/treasure`]: 'nothing\n',
      },
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial.gates).toMatchObject([
      { passed: false, message: expect.stringMatching(/^'data\/treasure' is not read: it leads out of /) },
    ])
  })

  test('that replaces its HOME and TMPDIR by links deletes nothing of the outside', async () => {
    using project = smallProject({
      config: shellAgent(),
      files: {
        'agent.sh':
          'rm -rf "$HOME" "$TMPDIR"; ln -s "$(pwd)/../../../../../../project/precious" "$TMPDIR"; ln -s "$(pwd)/../../../../../../project/precious" "$HOME"; echo > done.txt',
      },
    })
    mkdirSync(project.path('precious'))
    writeFileSync(project.path('precious/file'), 'kept')
    expect(onlyTrial(await gantryTest(project)).verdict).toBe('pass')
    expect(project.read('precious/file')).toBe('kept')
  })

  test('that puts a link in the place of its workspace is not judged by where it leads', async () => {
    using project = smallProject({
      config: shellAgent(),
      files: {
        'agent.sh': 'cd .. && mv fixture aside && ln -s "$(pwd)/../../../../../project/precious" fixture',
        'precious/done.txt': 'not made by the agent',
      },
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial).toMatchObject({ verdict: 'fail', gates: [{ passed: false }] })
    expect(project.read('precious/done.txt')).toBe('not made by the agent')
  })

  test('that removes its own trial directory ends the trial, not the run of the others', async () => {
    using project = smallProject({
      config: shellAgent(),
      files: {
        'agent.sh': 'if [ "$GANTRY_ATTEMPT" = 1 ]; then cd .. && rm -rf "$(pwd)"; else echo > done.txt; fi',
      },
    })
    const result = await gantryTest(project, ['--repeat', '2', '-j', '1', '--reporter', 'html:report.html'])
    expect(verdictsOf(result)).toEqual(['fail', 'pass'])
    expect(result.trials[0]?.warnings).toContain(
      'the agent removed its workspace, so an empty one was evaluated',
    )
    expect(result).toMatchObject({ code: 1, stderr: '' })
  })
})
