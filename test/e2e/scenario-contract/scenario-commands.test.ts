import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest } from '../support/gantry.ts'
import { makeProject, smallProject, smallScenario, type TestProject } from '../support/project.ts'

function three(): TestProject {
  return smallProject({
    files: {
      'scenarios/case.yaml': smallScenario({ name: 'add note', tags: ['write'], tier: 0 }),
      'scenarios/find.yaml': smallScenario({ name: 'find note', tags: ['read'], tier: 1 }),
      'scenarios/merge.yaml': smallScenario({ name: 'merge', tags: ['write', 'slow'], tier: 3 }),
    },
  })
}

async function json(project: TestProject, argv: string[]): Promise<unknown> {
  return JSON.parse((await gantry(project, [...argv, '--json'])).stdout)
}

describe('gantry scenario list', () => {
  test('shows name, description, file, tags, tier and gates', async () => {
    using project = three()
    const { stdout, code } = await gantry(project, ['scenario', 'list'])
    expect(code).toBe(0)
    for (const part of [
      'add note',
      'tier 1',
      '#slow',
      '1 gate',
      'scenarios/merge.yaml',
      'The agent writes a file.',
    ])
      expect(stdout).toContain(part)
    expect(await json(project, ['scenario', 'list', 'find'])).toEqual([
      {
        name: 'find note',
        file: 'scenarios/find.yaml',
        description: 'The agent writes a file.',
        tags: ['read'],
        tier: 1,
        gates: 1,
        judge: false,
      },
    ])
  })

  test.each<[string[], string[]]>([
    [
      ['--tag', 'read', '--tag', 'slow'],
      ['find note', 'merge'],
    ],
    [['--tag', 'write,slow', '--all-tags'], ['merge']],
    [
      ['--tier', '1'],
      ['add note', 'find note'],
    ],
    [
      ['--filter', '*note'],
      ['add note', 'find note'],
    ],
  ])('filters by %j', async (argv, expected) => {
    using project = three()
    const rows = (await json(project, ['scenario', 'list', ...argv])) as { name: string }[]
    expect(rows.map(({ name }) => name)).toEqual(expected)
  })
})

describe('gantry scenario show', () => {
  test('takes the name of a scenario and shows its prompt and its gates', async () => {
    using project = three()
    const { stdout, code } = await gantry(project, ['scenario', 'show', 'find note'])
    expect(code).toBe(0)
    for (const part of [
      'find note',
      'Prompt',
      'Write done.txt.',
      'Gates',
      'file_exists',
      'path: done.txt',
      '#read',
    ])
      expect(stdout).toContain(part)
  })

  test('fills in defaults and resolves paths in JSON', async () => {
    using project = three()
    expect(await json(project, ['scenario', 'show', 'scenarios/find.yaml'])).toMatchObject({
      name: 'find note',
      target: { binary: 'sh', env: {} },
      resolved: {
        template_dir: project.path('fixtures/template'),
        file: project.path('scenarios/find.yaml'),
      },
    })
  })

  test('of a directory of several asks for one', async () => {
    using project = three()
    const { code, stderr } = await gantry(project, ['scenario', 'show', 'scenarios'])
    expect(code).toBe(2)
    expect(stderr).toContain('names 3 scenarios')
  })
})

describe('gantry scenario validate', () => {
  test('says ok for each sound file', async () => {
    using project = three()
    const { stdout, code } = await gantry(project, ['scenario', 'validate'])
    expect(code).toBe(0)
    expect(stdout.match(/^ok /gm)).toHaveLength(3)
  })

  test('reports every broken file with its place, and does not stop at the first', async () => {
    using project = three()
    project.write({
      'scenarios/a.yaml': smallScenario({ name: 'a', template_folder: 'nowhere' }),
      'scenarios/b.yaml': 'name: [\n',
      'scenarios/c.yaml': smallScenario({ name: 'c', tagz: [] }),
      'scenarios/d.yaml': smallScenario({ name: 'merge' }),
      'scenarios/e.yaml': smallScenario({ name: 'e', target: { binary: 'no-such-tool-at-all' } }),
    })
    const { stdout, code } = await gantry(project, ['scenario', 'validate'])
    expect(code).toBe(2)
    expect(stdout).toMatch(/bad .*a\.yaml:\d+:\d+: template folder 'nowhere'/)
    expect(stdout).toMatch(/bad .*b\.yaml:\d+:\d+/)
    expect(stdout).toMatch(/bad .*c\.yaml:\d+:\d+: .*tagz/)
    expect(stdout).toMatch(/bad .*the name 'merge' is already used/)
    expect(stdout).toMatch(/bad .*e\.yaml:\d+:\d+: the tool 'no-such-tool-at-all' was not found/)
    expect(stdout.match(/^ok /gm)).toHaveLength(3)
  })

  test('gives JSON for programs', async () => {
    using project = three()
    project.write({ 'scenarios/c.yaml': smallScenario({ name: 'c', template_folder: 'nowhere' }) })
    expect(await json(project, ['scenario', 'validate'])).toContainEqual({
      file: 'scenarios/c.yaml',
      name: null,
      problem: expect.stringContaining('nowhere'),
      hint: expect.stringContaining('Looked at'),
      warnings: [],
    })
  })

  test('warns of a script that is run and that the template lacks, when setup may make it', async () => {
    using project = smallProject({
      scenario: {
        setup: { commands: ['true'] },
        scripts: { evaluators: [{ name: 'e', command: 'sh ./scripts/there.sh' }] },
      },
      gates: [{ type: 'script', command: './scripts/missing.sh --all', description: 'd' }],
      files: { 'fixtures/template/scripts/there.sh': '#!/bin/sh\n' },
    })
    const { code, stdout } = await gantry(project, ['scenario', 'validate'])
    expect(code).toBe(0)
    expect(stdout).toContain('./scripts/missing.sh is run but is not in the template')
    expect(stdout).not.toContain('there.sh')
  })

  test('refuses a script gate without its script, because the author writes it', async () => {
    using project = smallProject({
      gates: [{ type: 'script', command: './scripts/missing.sh', description: 'd' }],
    })
    const { code, stdout } = await gantry(project, ['scenario', 'validate'])
    expect(code).toBe(2)
    expect(stdout).toContain('./scripts/missing.sh does not exist')
  })

  test('refuses an oracle that is not there, because nothing can create it', async () => {
    using project = smallProject({ scenario: { oracle: { command: './solve.sh' } } })
    const { code, stdout } = await gantry(project, ['scenario', 'validate'])
    expect(code).toBe(2)
    expect(stdout).toContain('solve.sh')
  })

  test('runs nothing and writes nothing', async () => {
    using project = three()
    await gantry(project, ['scenario', 'validate'])
    expect(existsSync(project.store)).toBe(false)
  })
})

describe('gantry scenario new', () => {
  test('creates a scenario that is valid, sound and runnable without changes', async () => {
    using project = makeProject({ 'agent.yaml': { name: 'a', turns: [{ run: 'echo solved > answer.txt' }] } })
    const made = await gantry(project, ['scenario', 'new', 'My First: scenario!', '--target', 'sh'])
    expect(made.code).toBe(0)
    expect(made.stdout).toContain('Created scenarios/my-first-scenario.yaml')
    expect((await gantry(project, ['scenario', 'validate'])).code).toBe(0)
    expect((await gantry(project, ['scenario', 'check'])).code).toBe(0)
    const run = await gantryTest(project, ['--agent', 'scripted:agent.yaml'])
    expect(run.trials[0]).toMatchObject({ case: 'My First: scenario!', verdict: 'pass' })
  })

  test('overwrites nothing', async () => {
    using project = makeProject({ 'scenarios/mine.yaml': 'precious' })
    const { code, stderr } = await gantry(project, ['scenario', 'new', 'mine', '--target', 'sh'])
    expect(code).toBe(2)
    expect(stderr).toContain('scenarios/mine.yaml already exists')
    expect(project.read('scenarios/mine.yaml')).toBe('precious')
  })
})
