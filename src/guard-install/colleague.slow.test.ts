import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type HookedAgent, hookCodecs } from '../agents/hook-codecs.ts'
import { hookInstallerOf } from '../agents/hook-installers.ts'
import { installHooks } from './install-hooks.ts'

let base: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-colleague-')))
  for (const name of ['project', 'home']) mkdirSync(join(base, name))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

/** The command of the hook before a tool, as the file has it. */
async function commandOf(agent: HookedAgent): Promise<readonly [string, readonly string[]]> {
  const place = {
    root: join(base, 'project'),
    home: join(base, 'home'),
    env: { GANTRY_GUARD_HOME: join(base, 'guard'), HOME: join(base, 'home') },
  }
  await installHooks({
    agents: [agent],
    scope: 'project',
    place,
    program: { node: process.execPath, hookBin: join(base, 'missing', 'hook-bin.js') },
    eventsOf: (each) => hookCodecs[each].events,
    checkPerson: async () => {},
    seal: async () => {},
    isSealed: false,
    dryRun: false,
  })
  const [file = ''] = hookInstallerOf(agent, hookCodecs[agent]).files('project', place)
  const before = hookCodecs[agent].events.find(({ kind }) => kind === 'tool_before')?.event ?? ''
  const [entry] = JSON.parse(readFileSync(file, 'utf8')).hooks[before]
  const { command, exec, args } = entry.hooks?.[0] ?? entry
  return args === undefined ? ['/bin/sh', ['-c', command]] : [exec ?? command, args]
}

test.each(['claude-code', 'codex', 'gemini', 'copilot', 'cursor'] as const)(
  'the hook of %s does nothing where Gantry never was, and blocks where its program is missing',
  async (agent) => {
    const [program, args] = await commandOf(agent)
    const run = () => spawnSync(program, args, { input: '{}', encoding: 'utf8', cwd: base })
    mkdirSync(join(base, 'guard'), { recursive: true })
    expect(run().status).not.toBe(0)
    renameSync(join(base, 'guard'), join(base, 'elsewhere'))
    const { status, stdout, stderr } = run()
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
    // One of the two places is enough to show that this is the guarded machine.
    mkdirSync(join(base, 'project', '.harness'))
    expect(run().status).not.toBe(0)
  },
)
