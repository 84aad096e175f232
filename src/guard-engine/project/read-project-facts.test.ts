import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import { settingsOf } from '../settings/settings.ts'
import { readProjectFacts } from './read-project-facts.ts'

const settings = settingsOf({})

function git(cwd: string, ...args: readonly string[]): void {
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' }
  execFileSync('git', args, { cwd, env, stdio: 'ignore' })
}

const project = {
  'src/deep/er/est.ts': '',
  'src/main.ts': '',
  'build/out.js': '',
  'node_modules/a/index.js': '',
  '.harness/state.json': '',
  'src/__pycache__/a.pyc': '',
  'src/b.pyc': '',
  '.gitignore': 'build/\n',
  'IMPLEMENTATION_PLAN.md': '- [x] one\n- [ ] say "two"\n## Verification\n- `make ci`\n',
  'package.json': '{"scripts":{"test":"vitest"}}',
}

describe('a project', () => {
  test('in a repository is listed to the depth, without ignored files, with uncommitted ones', async () => {
    await using fixture = await createFixture(project)
    git(fixture.path, 'init', '-q')
    git(fixture.path, 'add', 'package.json', 'src/main.ts', '.gitignore')
    writeFileSync(fixture.getPath('new.txt'), '')
    rmSync(fixture.getPath('src/main.ts'))
    expect(await readProjectFacts(fixture.path, settings)).toEqual({
      entries: [
        '.gitignore',
        'IMPLEMENTATION_PLAN.md',
        'new.txt',
        'package.json',
        'src/',
        'src/deep/',
        'src/deep/er/',
      ],
      truncated: false,
      omitted: 0,
      commands: [
        { command: 'make ci', kind: 'other', source: 'IMPLEMENTATION_PLAN.md', explicit: true },
        { command: 'npm test', kind: 'test', source: 'package.json', explicit: false },
      ],
      toolchains: ['Node.js (npm)'],
      plan: { total: 2, done: 1, open: ['say "two"'] },
    })
  })

  test('below the top of a repository is listed with its own paths', async () => {
    await using fixture = await createFixture({ 'a/b/c.txt': '', 'other/d.txt': '' })
    git(fixture.path, 'init', '-q')
    const { entries } = await readProjectFacts(fixture.getPath('a'), settings)
    expect(entries).toEqual(['b/', 'b/c.txt'])
  })

  test('that is ignored by its repository, or has none, is walked', async () => {
    await using fixture = await createFixture({ 'a/b/c.txt': '', '.gitignore': 'a/\n' })
    git(fixture.path, 'init', '-q')
    expect((await readProjectFacts(fixture.getPath('a'), settings)).entries).toEqual(['b/', 'b/c.txt'])
    await using plain = await createFixture(project)
    const { entries } = await readProjectFacts(plain.path, settings)
    expect(entries).toContain('build/out.js')
    expect(entries.join('\n')).not.toMatch(/node_modules|\.harness|pyc/)
  })

  test('is listed with escaped names', async () => {
    await using fixture = await createFixture({})
    writeFileSync(fixture.getPath('a\nb\u202e\u001b[31m'), '')
    mkdirSync(fixture.getPath('é'))
    writeFileSync(fixture.getPath('é/x'), '')
    writeFileSync(Buffer.concat([Buffer.from(`${fixture.path}/bad`), Buffer.from([0xff])]), '')
    writeFileSync(fixture.getPath('l'.repeat(200)), '')
    for (const withGit of [false, true]) {
      if (withGit) git(fixture.path, 'init', '-q')
      const { entries } = await readProjectFacts(fixture.path, settings)
      expect(entries).toEqual(['a\\nb\\u{202e}\\x1b[31m', 'bad\\xff', `${'l'.repeat(159)}…`, 'é/', 'é/x'])
    }
  })

  test('may have more entries than are listed', async () => {
    const files = Array.from({ length: 30 }, (_, d) =>
      Array.from({ length: 10 }, (_, f) => `d${d}/f${f}`),
    ).flat()
    await using fixture = await createFixture(Object.fromEntries(files.map((file) => [file, ''])))
    const facts = await readProjectFacts(fixture.path, settings)
    expect(facts.entries).toHaveLength(100)
    expect(facts).toMatchObject({ truncated: true, omitted: 230 })
  })

  test('is listed without following links', async () => {
    await using outside = await createFixture({ 'AGENTS.md': '- `npm test`', 'secret/x': '' })
    await using fixture = await createFixture({ 'a/b': '' })
    symlinkSync(outside.getPath('AGENTS.md'), fixture.getPath('AGENTS.md'))
    symlinkSync(outside.getPath('secret'), fixture.getPath('secret'))
    symlinkSync('.', fixture.getPath('a/round'))
    const facts = await readProjectFacts(fixture.path, settings)
    expect(facts.entries).toEqual(['AGENTS.md', 'a/', 'a/b', 'a/round', 'secret'])
    expect(facts.commands).toEqual([])
  })

  test('ignores an AGENTS.md that leads out of it, and keeps the order of the rest', async () => {
    await using outside = await createFixture({ 'AGENTS.md': '- `cargo test`' })
    await using fixture = await createFixture({
      'CLAUDE.md': '- `npm run lint`',
      'IMPLEMENTATION_PLAN.md': '## Verification\n\n- `make ci`\n',
      'package.json': '{"scripts":{"test":"vitest run"}}',
    })
    symlinkSync(outside.getPath('AGENTS.md'), fixture.getPath('AGENTS.md'))
    expect(await declaredIn(fixture.path)).toEqual([
      ['make ci', 'IMPLEMENTATION_PLAN.md', true],
      ['npm run lint', 'CLAUDE.md', true],
      ['npm test', 'package.json', false],
    ])
    // The same if a directory in the path is a link, or a path only starts in the project.
    for (const to of ['../'.repeat(12) + outside.getPath('AGENTS.md').slice(1), 'out/AGENTS.md']) {
      rmSync(fixture.getPath('AGENTS.md'))
      rmSync(fixture.getPath('out'), { force: true })
      symlinkSync(outside.path, fixture.getPath('out'))
      symlinkSync(to, fixture.getPath('AGENTS.md'))
      expect((await declaredIn(fixture.path)).flat()).not.toContain('cargo test')
    }
  })

  test('reads an AGENTS.md that links to a file in it, with the priority of AGENTS.md', async () => {
    await using fixture = await createFixture({
      'docs/agents.md': '- `npm run lint`\n- `make ci`\n',
      'IMPLEMENTATION_PLAN.md': '## Verification\n\n- `make ci`\n',
      'package.json': '{"scripts":{"test":"vitest run"}}',
    })
    symlinkSync('docs/agents.md', fixture.getPath('AGENTS.md'))
    symlinkSync('AGENTS.md', fixture.getPath('CLAUDE.md'))
    expect(await declaredIn(fixture.path, ['npm run all'])).toEqual([
      ['npm run all', 'harness.json', true],
      ['make ci', 'IMPLEMENTATION_PLAN.md', true],
      ['npm run lint', 'AGENTS.md', true],
      ['npm test', 'package.json', false],
    ])
  })

  test('has its commands and its plan even without the tree', async () => {
    await using fixture = await createFixture({ ...project, 'go.mod': '', 'pkg/a_test.go': '' })
    const facts = await readProjectFacts(fixture.path, settings, { entries: false })
    expect(facts.entries).toEqual([])
    expect(facts.commands.map(({ command }) => command)).toEqual(['make ci', 'npm test', 'go test ./...'])
    expect(facts.plan?.total).toBe(2)
  })

  test('may be empty', async () => {
    await using fixture = await createFixture({})
    git(fixture.path, 'init', '-q')
    expect(await readProjectFacts(fixture.path, settings)).toMatchObject({
      entries: [],
      truncated: false,
      plan: null,
    })
  })
})

async function declaredIn(root: string, verificationCommands: readonly string[] = []) {
  const checklist = { ...settings.checklist, verificationCommands }
  const { commands } = await readProjectFacts(root, { ...settings, checklist })
  return commands.map(({ command, source, explicit }) => [command, source, explicit])
}
