import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hookCodecs } from '../agents/hook-codecs.ts'
import { hookInstallerOf, installableAgents } from '../agents/hook-installers.ts'
import { projectHookFiles } from '../guard-engine/hook-files.ts'
import { findInstalls } from './find-installs.ts'
import { type InstallRequest, installHooks } from './install-hooks.ts'
import { keepHooks, noticeHooks } from './keep-hooks.ts'
import { uninstallHooks } from './uninstall-hooks.ts'

let base: string
let root: string
const program = { node: process.execPath, hookBin: '/opt/gantry/hook-bin.js' }
const env = () => ({ GANTRY_GUARD_HOME: join(base, 'guard'), HOME: join(base, 'home') })
const settings = (at = root): string => join(at, '.claude/settings.local.json')
const exclude = (): string => readFileSync(join(root, '.git/info/exclude'), 'utf8')

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-keep-')))
  root = join(base, 'project')
  for (const name of ['project', 'home']) mkdirSync(join(base, name))
  git('init', '-q', '-b', 'main')
  writeFileSync(join(root, 'a.txt'), 'one\n')
  git('add', '-A')
  git('commit', '-qm', 'first')
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

function git(...args: readonly string[]): string {
  return gitIn(root, ...args)
}

function gitIn(cwd: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=n', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always']
  const clean = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
  return execFileSync('git', [...identity, ...args], { cwd, env: clean, encoding: 'utf8', stdio: 'pipe' })
}

function request(at = root): InstallRequest {
  return {
    agents: ['claude-code'],
    scope: 'project',
    place: { root: at, home: join(base, 'home'), env: env() },
    program,
    eventsOf: (agent) => hookCodecs[agent].events,
    checkPerson: async () => {},
    seal: async () => {},
    isSealed: false,
    dryRun: false,
  }
}

const found = (at = root) =>
  findInstalls('claude-code', hookInstallerOf('claude-code', hookCodecs['claude-code']), {
    place: request(at).place,
    program,
  })

test('the hook files of the engine are those that the installers write', () => {
  const place = { root: '/p', home: '/h', env: {} }
  const written = installableAgents.map((agent) => {
    const [path = ''] = hookInstallerOf(agent, hookCodecs[agent]).files('project', place)
    return [agent, path.slice('/p/'.length)]
  })
  expect(Object.fromEntries(projectHookFiles)).toEqual(Object.fromEntries(written))
})

describe('after an install', () => {
  test.each([
    ['git stash -u', [['stash', '-u']]],
    ['git add -A && git stash', [['add', '-A'], ['stash']]],
    [
      'a commit of everything on a branch, and git checkout main',
      [
        ['checkout', '-qb', 'other'],
        ['add', '-A'],
        ['commit', '-qm', 'all'],
        ['checkout', '-q', 'main'],
      ],
    ],
    ['git clean -fd', [['clean', '-fdq']]],
  ])('the hooks survive %s', async (_name, commands) => {
    await installHooks(request())
    expect(git('status', '--porcelain')).toBe('')
    writeFileSync(join(root, 'b.txt'), 'two\n')
    for (const command of commands) git(...command)
    expect(existsSync(settings())).toBe(true)
    expect(keepHooks({ root, env: env(), program })).toEqual([])
  })

  test('the list of ignored files is as before once the hooks are uninstalled', async () => {
    const before = exclude()
    await installHooks(request())
    expect(exclude()).toContain('\n/.claude/settings.local.json\n')
    await installHooks(request())
    expect(exclude().match(/settings\.local\.json$/gm)).toHaveLength(1)
    await uninstallHooks(request())
    expect(exclude()).toBe(before)
  })

  test('a file that git tracks is named, with the way out', async () => {
    mkdirSync(join(root, '.claude'))
    writeFileSync(settings(), '{}\n')
    git('add', '-A')
    const [outcome] = await installHooks(request())
    expect(outcome?.afterwards.at(-1)).toContain('git rm --cached')
  })

  test('a worktree and a submodule use the list of their own repository', async () => {
    const linked = join(base, 'linked')
    git('worktree', 'add', '-q', linked)
    await installHooks(request(linked))
    expect(gitIn(linked, 'status', '--porcelain')).toBe('')
    expect(exclude()).toContain('/.claude/settings.local.json')
    git('submodule', '--quiet', 'add', root, 'part')
    const part = join(root, 'part')
    await installHooks(request(part))
    expect(gitIn(part, 'status', '--porcelain')).toBe('')
  })
})

test('hooks that a forced commit and a checkout removed are put back, with the settings that were there before', async () => {
  mkdirSync(join(root, '.claude'))
  writeFileSync(settings(), '{"model":"x"}\n')
  await installHooks(request())
  const installed = readFileSync(settings(), 'utf8')
  git('checkout', '-qb', 'other')
  git('add', '-f', '.claude/settings.local.json')
  git('commit', '-qm', 'forced')
  git('checkout', '-q', 'main')
  expect(existsSync(settings())).toBe(false)
  expect(keepHooks({ root, env: env(), program })).toMatchObject([{ path: settings(), result: 'put back' }])
  expect(JSON.parse(readFileSync(settings(), 'utf8'))).toEqual(JSON.parse(installed))
  expect(git('status', '--porcelain')).toBe('')
})

test('hooks are put back where a branch has a file in place of their directory, and the file is kept', async () => {
  await installHooks(request())
  const before = readFileSync(settings(), 'utf8')
  rmSync(join(root, '.claude'), { recursive: true })
  writeFileSync(join(root, '.claude'), 'a file\n')
  expect(keepHooks({ root, env: env(), program })).toMatchObject([{ path: settings(), result: 'put back' }])
  expect(readFileSync(settings(), 'utf8')).toBe(before)
  expect(readFileSync(join(root, '.claude.not-gantry'), 'utf8')).toBe('a file\n')
})

test('a new worktree gets the hooks of the project, and git ignores them there', async () => {
  await installHooks(request())
  const linked = join(base, 'linked')
  git('worktree', 'add', '-q', linked)
  expect(found(linked)).toMatchObject([{ presence: 'missing', problems: [expect.stringContaining(root)] }])
  const added = keepHooks({ root, env: env(), program })
  expect(added).toMatchObject([{ path: settings(linked), result: 'added' }])
  expect(found(linked)).toMatchObject([{ presence: 'installed' }])
  expect(gitIn(linked, 'status', '--porcelain')).toBe('')
})

test('uninstalling takes the hooks out of the worktrees too, but not out of the main tree when it is done in one of them', async () => {
  await installHooks(request())
  const linked = join(base, 'linked')
  git('worktree', 'add', '-q', linked)
  keepHooks({ root, env: env(), program })
  expect((await uninstallHooks(request(linked))).map(({ path }) => path)).toEqual([settings(linked)])
  expect(found()).toMatchObject([{ presence: 'installed' }])
  keepHooks({ root, env: env(), program })
  const gone = { result: 'restored', isGone: true }
  expect(await uninstallHooks(request())).toMatchObject([
    { path: settings(), ...gone },
    { path: settings(linked), ...gone },
  ])
  expect([settings(), settings(linked)].filter(existsSync)).toEqual([])
})

test('missing hooks are noticed from any project, with the time, until they are uninstalled', async () => {
  await installHooks(request())
  const elsewhere = { root: join(base, 'home'), env: env() }
  expect(noticeHooks(elsewhere)).toEqual([])
  rmSync(join(root, '.claude'), { recursive: true })
  const [trouble] = noticeHooks(elsewhere)
  expect(trouble).toMatchObject({ agent: 'claude-code', root, result: 'missing' })
  expect(trouble?.sinceMs).toBeGreaterThan(0)
  const [status] = found()
  expect(status).toMatchObject({ presence: 'missing' })
  expect(status?.problems[0]).toContain(new Date(trouble?.sinceMs ?? 0).toISOString())
  await uninstallHooks(request())
  expect(noticeHooks(elsewhere)).toEqual([])
  expect(found()).toEqual([])
})

test.each([
  ['that do nothing', (text: string) => text.replaceAll('exec /', 'exit 0; exec /')],
  ['for no tool', (text: string) => text.replaceAll('"*"', '"None"')],
])('hooks %s are put back after the call that changed them', async (_name, change) => {
  await installHooks(request())
  writeFileSync(settings(), change(readFileSync(settings(), 'utf8')))
  expect(keepHooks({ root, env: env(), program })).toMatchObject([{ path: settings(), result: 'put back' }])
  expect(found()).toMatchObject([{ presence: 'installed' }])
})

test('hooks that are switched off are noticed from any project, with the reason, and a granted permission is not', async () => {
  await installHooks(request())
  const elsewhere = { root: join(base, 'home'), env: env() }
  const own = JSON.parse(readFileSync(settings(), 'utf8'))
  writeFileSync(settings(), JSON.stringify({ ...own, permissions: { allow: ['Bash(ls)'] } }))
  expect([...noticeHooks(elsewhere), ...keepHooks({ root, env: env(), program })]).toEqual([])
  writeFileSync(settings(), JSON.stringify({ ...own, disableAllHooks: true }))
  const trouble = { path: settings(), result: 'missing', why: expect.stringContaining('disableAllHooks') }
  expect(noticeHooks(elsewhere)).toMatchObject([trouble])
  expect(keepHooks({ root, env: env(), program })).toMatchObject([trouble])
})

test('hooks of a project that was deleted are not missed', async () => {
  await installHooks(request())
  rmSync(root, { recursive: true })
  expect(noticeHooks({ root: join(base, 'home'), env: env() })).toEqual([])
})
