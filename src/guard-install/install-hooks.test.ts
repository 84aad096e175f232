import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claudeCodeHooks } from '../agents/claude-code/hook-config.ts'
import type { HookRegistration } from '../agents/hook-codec.ts'
import { installableAgents } from '../agents/hook-installers.ts'
import { planInstall } from './hook-file-change.ts'
import { type InstallRequest, installHooks } from './install-hooks.ts'
import { uninstallHooks } from './uninstall-hooks.ts'

const events: readonly HookRegistration[] = [
  { event: 'PreToolUse', kind: 'tool_before', matcher: '*', timeoutSeconds: 10, mustBlock: true },
  { event: 'Stop', kind: 'stop', timeoutSeconds: 600, mustBlock: true },
]

let base: string
let sealed: string[][]

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'gantry-install-'))
  for (const name of ['project', 'home', 'guard']) mkdirSync(join(base, name))
  sealed = []
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

const settings = (): string => join(base, 'project/.claude/settings.local.json')
/** What the hooks in the settings start. */
const line = (): string => JSON.parse(readFileSync(settings(), 'utf8')).hooks.PreToolUse[0].hooks[0].command
const launcher = (): string => {
  const path = /exec (\S+) PreToolUse$/.exec(line())?.[1] ?? ''
  // Tests remove and change it.
  if (!path.startsWith(base)) throw new Error(`not a launcher of this test: ${path}`)
  return path
}
const filesBelow = (dir: string): readonly string[] =>
  readdirSync(join(base, dir), { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(base.length + dir.length + 2))

function request(change: Partial<InstallRequest> = {}): InstallRequest {
  return {
    agents: ['claude-code'],
    scope: 'project',
    place: {
      root: join(base, 'project'),
      home: join(base, 'home'),
      env: { GANTRY_GUARD_HOME: join(base, 'guard') },
    },
    program: { node: '/opt/node', hookBin: '/opt/gantry/hook-bin.js' },
    eventsOf: () => events,
    checkPerson: async () => {},
    isSealed: false,
    seal: async (files) => {
      sealed.push([...files])
    },
    dryRun: false,
    ...change,
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

describe('install', () => {
  test('a second run changes nothing, makes no copy and seals nothing', async () => {
    write(settings(), '{"permissions":{}}')
    const [first] = await installHooks(request())
    expect(first).toMatchObject({ result: 'installed', path: settings() })
    const after = readFileSync(settings(), 'utf8')
    const before = statSync(settings())
    const [second] = await installHooks(request())
    expect(second).toMatchObject({ result: 'unchanged', backup: null, diff: '' })
    expect(readFileSync(settings(), 'utf8')).toBe(after)
    expect(statSync(settings()).ino).toBe(before.ino)
    expect(filesBelow('project').filter((name) => name.includes('backup'))).toHaveLength(1)
    expect(sealed).toHaveLength(1)
    expect(sealed[0]).toEqual(expect.arrayContaining([settings(), '/opt/gantry/hook-bin.js', launcher()]))
  })

  test('a new file has no copy', async () => {
    const [outcome] = await installHooks(request())
    expect(outcome?.backup).toBeNull()
    expect(filesBelow('project')).toEqual(['.claude/settings.local.json'])
  })

  test('the copy has the bytes and the mode of the old file', async () => {
    const text = '\uFEFF{\r\n\t"env": {"KEY": "secret"}\r\n}'
    write(settings(), text)
    chmodSync(settings(), 0o600)
    const [outcome] = await installHooks(request())
    expect(readFileSync(outcome?.backup ?? '', 'utf8')).toBe(text)
    expect(statSync(outcome?.backup ?? '').mode & 0o777).toBe(0o600)
    expect(statSync(settings()).mode & 0o777).toBe(0o600)
  })

  test('a dry run shows the change and writes nothing', async () => {
    write(settings(), '{\n  "model": "x"\n}\n')
    const [outcome] = await installHooks(request({ dryRun: true }))
    expect(outcome?.diff).toContain('+  "hooks": {')
    expect(outcome?.diff).toContain(`--- ${settings()}`)
    expect(filesBelow('project')).toEqual(['.claude/settings.local.json'])
    expect(readFileSync(settings(), 'utf8')).toBe('{\n  "model": "x"\n}\n')
    expect(filesBelow('guard')).toEqual([])
    expect(sealed).toEqual([])
  })

  test('a linked settings file stays a link, and its target is changed', async () => {
    const real = join(base, 'home/dotfiles/claude.json')
    write(real, '{}\n')
    mkdirSync(dirname(settings()), { recursive: true })
    symlinkSync(real, settings())
    await installHooks(request())
    expect(lstatSync(settings()).isSymbolicLink()).toBe(true)
    expect(readFileSync(real, 'utf8')).toContain('gantry-hook.cjs')
    await uninstallHooks(request())
    expect(readFileSync(real, 'utf8')).toBe('{}\n')
    expect(lstatSync(settings()).isSymbolicLink()).toBe(true)
    expect(filesBelow('home')).toEqual(['dotfiles/claude.json'])
  })

  test.each([
    [
      'a link that leads nowhere',
      'which is not there',
      () => {
        mkdirSync(dirname(settings()), { recursive: true })
        symlinkSync('/nowhere/at/all', settings())
      },
    ],
    ['a directory in its place', 'it is a directory', () => mkdirSync(settings(), { recursive: true })],
    [
      'a read-only file, also for root',
      'read-only',
      () => {
        write(settings(), '{}')
        chmodSync(settings(), 0o444)
      },
    ],
    [
      'invalid UTF-8',
      'is not UTF-8',
      () => {
        write(settings(), '')
        writeFileSync(settings(), Buffer.from([0x7b, 0xff, 0x7d]))
      },
    ],
    ['a file that does not parse', 'a comma before }', () => write(settings(), '{"a":1,}')],
  ])('%s is refused, and nothing is changed', async (_, message, make) => {
    make()
    write(join(base, 'project/.gemini/settings.json'), '{}')
    const both = request({ agents: ['gemini', 'claude-code'] })
    await expect(installHooks(both)).rejects.toThrow(message)
    expect(readFileSync(join(base, 'project/.gemini/settings.json'), 'utf8')).toBe('{}')
    expect(sealed).toEqual([])
  })

  test('a file that does not parse is reported with its line', async () => {
    write(settings(), '{\n  "a": 1,\n}')
    await expect(installHooks(request())).rejects.toMatchObject({
      at: { file: settings(), line: 2, column: 9 },
    })
  })

  test('a file that another program changes meanwhile is not written', async () => {
    write(settings(), '{}')
    const { replaceForeignFile, readForeignFile } = await import('../io/replace-file.ts')
    const file = readForeignFile(settings())
    write(settings(), '{"new": true}')
    expect(() => replaceForeignFile(file, 'ours')).toThrow('changed by another program')
    expect(readFileSync(settings(), 'utf8')).toBe('{"new": true}')
    expect(filesBelow('project')).toEqual(['.claude/settings.local.json'])
  })

  test('an agent may add a guard, but not change an existing one', async () => {
    const agent = request({ checkPerson: () => Promise.reject(new Error('an agent must not do this')) })
    await installHooks(agent)
    const newer = { ...agent, program: { node: '/opt/evil', hookBin: '/tmp/hook-bin.js' } }
    await expect(installHooks(newer)).rejects.toThrow('an agent must not do this')
    await expect(installHooks({ ...agent, agents: ['gemini'], isSealed: true })).rejects.toThrow('an agent')
    await expect(uninstallHooks(agent)).rejects.toThrow('an agent must not do this')
    expect(readFileSync(launcher(), 'utf8')).toContain('/opt/gantry/hook-bin.js')
  })

  test('the hooks of Claude Code start a private program without arguments', async () => {
    await installHooks(request())
    const { hooks } = JSON.parse(readFileSync(settings(), 'utf8'))
    expect(hooks.PreToolUse[0].hooks[0]).toMatchObject({ command: line(), timeout: 10 })
    expect(launcher()).toMatch(/\/guard\/bin\/claude-code-[0-9a-f]{12}\/gantry-hook\.cjs$/)
    expect(statSync(launcher()).mode & 0o777).toBe(0o700)
    expect(statSync(dirname(launcher())).mode & 0o777).toBe(0o700)
  })

  test('another version writes its own program and keeps the old one, which other projects still start', async () => {
    await installHooks(request())
    const old = launcher()
    await installHooks(request({ program: { node: '/opt/newer', hookBin: '/opt/newer/hook-bin.js' } }))
    expect(launcher()).not.toBe(old)
    expect([old, launcher()].map((path) => existsSync(path))).toEqual([true, true])
    await uninstallHooks(request())
    expect(existsSync(old)).toBe(true)
  })

  test('hooks of the earlier form, Node with arguments, are replaced, and the original can still be restored', async () => {
    const original = '{"model": "x"}'
    write(settings(), original)
    const args = ['/opt/gantry/hook-bin.js', '--agent', 'claude-code']
    const earlier = claudeCodeHooks(events).install(original, {
      program: '/opt/node',
      args,
    })
    writeFileSync(settings(), earlier)
    const [outcome] = await installHooks(request())
    expect(outcome?.result).toBe('updated')
    const after = readFileSync(settings(), 'utf8')
    expect(after).not.toContain('hook-bin.js')
    expect(after.match(/gantry-hook\.cjs/g)).toHaveLength(events.length)
    await uninstallHooks(request())
    expect(JSON.parse(readFileSync(settings(), 'utf8'))).toEqual({ model: 'x' })
  })

  test.each([
    ['is gone', (path: string) => rmSync(path)],
    ['was changed', (path: string) => writeFileSync(path, 'process.exit(0)')],
    ['cannot be started any more', (path: string) => chmodSync(path, 0o600)],
  ])('a hook program that %s is written again, and needs a person', async (_, spoil) => {
    await installHooks(request())
    const [path, text] = [launcher(), readFileSync(launcher(), 'utf8')]
    spoil(path)
    const agent = request({ checkPerson: () => Promise.reject(new Error('an agent must not do this')) })
    await expect(installHooks(agent)).rejects.toThrow('an agent must not do this')
    const [outcome] = await installHooks(request())
    expect(outcome?.result).toBe('updated')
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(statSync(path).mode & 0o777).toBe(0o700)
    expect((await installHooks(request()))[0]?.result).toBe('unchanged')
  })

  test('a scope the agent does not have is refused', async () => {
    await expect(installHooks(request({ agents: ['codex'], scope: 'plugin' }))).rejects.toThrow(
      'codex has no scope plugin',
    )
  })
})

describe('uninstall', () => {
  test('the original is restored byte for byte, for every agent and any original', async () => {
    const indents = fc.constantFrom(undefined, 2, 4, '\t')
    const original = fc.oneof(
      fc.constant(null),
      fc.constantFrom(
        '{}',
        '{ }\n',
        '{"hooks":{}}',
        '{"hooks":{"Stop":[]},"version":1}\n',
        '\uFEFF{\r\n}\r\n',
        '  \n',
      ),
      fc
        .tuple(
          fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })),
          indents,
          fc.constantFrom('', '\n', '\r\n'),
        )
        .filter(([value]) => !Object.hasOwn(value, 'hooks'))
        .map(([value, indent, end]) => JSON.stringify(value, null, indent) + end),
    )
    const agent = fc.constantFrom(...installableAgents)
    await fc.assert(
      fc.asyncProperty(
        original,
        agent,
        fc.constantFrom('project' as const, 'user' as const),
        async (text, name, scope) => {
          const given = request({ agents: [name], scope })
          const { file } = planInstall(
            (await import('../agents/hook-installers.ts')).hookInstallerOf(name, { events }),
            {
              scope,
              place: given.place,
              command: { program: 'n', args: ['/hook-bin.js', '--agent', name] },
            },
          )
          if (text !== null && name !== 'opencode') write(file.path, text)
          const before = snapshot()
          await installHooks(given)
          await installHooks({ ...given, program: { ...given.program, node: '/opt/newer' } })
          expect(snapshot()).not.toEqual(before)
          await uninstallHooks(given)
          expect(snapshot()).toEqual(before)
          rmSync(dirname(file.path), { recursive: true, force: true })
        },
      ),
      { numRuns: 25 },
    )
  })

  test('later changes by others stay, and so do the copies', async () => {
    write(settings(), '{\n  "model": "x"\n}\n')
    await installHooks(request())
    const changed = readFileSync(settings(), 'utf8').replace('"x"', '"y"')
    writeFileSync(settings(), changed)
    const [outcome] = await uninstallHooks(request())
    expect(outcome).toMatchObject({ result: 'removed' })
    expect(outcome?.kept).toHaveLength(1)
    expect(readFileSync(settings(), 'utf8')).toBe('{\n  "model": "y"\n}\n')
  })

  test('a file that existed before us is never deleted', async () => {
    write(settings(), '{"model": "x"}')
    await installHooks(request())
    const { hooks } = JSON.parse(readFileSync(settings(), 'utf8'))
    writeFileSync(settings(), JSON.stringify({ hooks }))
    await uninstallHooks(request())
    expect(readFileSync(settings(), 'utf8')).toBe('{}\n')
  })

  test('hooks are removed even without a receipt', async () => {
    await installHooks(request())
    rmSync(join(base, 'guard'), { recursive: true })
    const [outcome] = await uninstallHooks(request())
    expect(outcome?.result).toBe('removed')
    expect(existsSync(settings())).toBe(false)
  })

  test('a directory of ours with files of others stays', async () => {
    await installHooks(request())
    writeFileSync(join(base, 'project/.claude/CLAUDE.md'), 'mine')
    await uninstallHooks(request())
    expect(filesBelow('project')).toEqual(['.claude/CLAUDE.md'])
  })

  test('nothing to do is reported, and nothing is done', async () => {
    write(settings(), '{}')
    const [outcome] = await uninstallHooks(request())
    expect(outcome).toMatchObject({ result: 'absent', diff: '' })
    expect(readFileSync(settings(), 'utf8')).toBe('{}')
  })
})

/** Every file and link of project and home with its content, and every directory. */
function snapshot(): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const dir of ['project', 'home']) {
    for (const entry of readdirSync(join(base, dir), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      found[path] = entry.isDirectory() ? 'directory' : readFileSync(path, 'latin1')
    }
  }
  return found
}

test('an install and an uninstall remove launchers that are no longer used', async () => {
  const old = { node: '/opt/node', hookBin: '/opt/old/hook-bin.js' }
  await installHooks(request({ program: old }))
  const left = launcher()
  await installHooks(request())
  const mark = join(dirname(left), 'unused')
  expect(existsSync(mark)).toBe(true)
  utimesSync(mark, 0, 0)
  const used = launcher()
  await uninstallHooks(request())
  expect(existsSync(left)).toBe(false)
  expect(existsSync(join(dirname(used), 'unused'))).toBe(true)
  expect(existsSync(used)).toBe(true)
})
