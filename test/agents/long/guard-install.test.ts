import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'
import { claudeCodeCodec } from '../../../src/agents/claude-code/hooks.ts'
import { pluginFiles, writeGuardPlugin } from '../../../src/guard-install/guard-plugin.ts'
import { installHooks } from '../../../src/guard-install/install-hooks.ts'
import { uninstallHooks } from '../../../src/guard-install/uninstall-hooks.ts'
import { whenInstalled } from '../support/when-installed.ts'

const root = join(import.meta.dirname, '../../..')

let base: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'gantry-claude-'))
  for (const name of ['home', 'project', 'market']) mkdirSync(join(base, name))
  // Writes down which event it was started for.
  writeFileSync(
    join(base, 'hook-bin.js'),
    `const { appendFileSync } = require('node:fs')
appendFileSync(${JSON.stringify(join(base, 'seen'))}, process.argv.slice(2).join(' ') + '\\n')\n`,
  )
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

const seen = (): string => (existsSync(join(base, 'seen')) ? readFileSync(join(base, 'seen'), 'utf8') : '')

for (const id of ['claude-code', 'claude-code-old']) {
  whenInstalled([id], `the guard in ${id}`, () => describeClaude(findAgent(id)?.program ?? ''))
}

function describeClaude(program: string): void {
  /** In its own home; no server listens at the address of the model, so it starts, runs hooks, and gives up. */
  const claude = (...args: readonly string[]) =>
    spawnSync(program, args, {
      cwd: join(base, 'project'),
      encoding: 'utf8',
      timeout: 60_000,
      env: {
        PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
        HOME: join(base, 'home'),
        ANTHROPIC_API_KEY: 'sk-ant-made-up',
        ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
        CLAUDE_CODE_MAX_RETRIES: '0',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    })

  test('finds nothing to complain about in the plugin and the marketplace', () => {
    for (const target of [join(root, 'plugins/gantry-guard'), root]) {
      const { status, stdout } = claude('plugin', 'validate', '--strict', target)
      expect(stdout).toContain('Validation passed')
      expect(status).toBe(0)
    }
  })

  test('finds nothing to complain about in a plugin that was written for this machine, and runs its hooks', () => {
    const target = join(base, 'plugin')
    const files = pluginFiles(claudeCodeCodec.events, {
      node: process.execPath,
      hookBin: join(base, 'hook-bin.js'),
    })
    writeGuardPlugin(target, files, { dryRun: false })
    expect(claude('plugin', 'validate', '--strict', target).status).toBe(0)
    claude('-p', 'hi', '--plugin-dir', target)
    expect(seen()).toContain('--agent claude-code SessionStart')
  })

  test('installs the published plugin from the marketplace and runs its hooks with the Node on the PATH', () => {
    const market = join(base, 'market')
    for (const name of ['.claude-plugin', 'plugins'])
      cpSync(join(root, name), join(market, name), { recursive: true })
    mkdirSync(join(market, 'plugins/gantry-guard/dist'), { recursive: true })
    cpSync(join(base, 'hook-bin.js'), join(market, 'plugins/gantry-guard/dist/hook-bin.js'))
    expect(claude('plugin', 'marketplace', 'add', market).status).toBe(0)
    expect(claude('plugin', 'install', 'gantry-guard@gantry').status).toBe(0)
    claude('-p', 'hi')
    expect(seen()).toContain('--agent claude-code SessionStart')
  })

  test('runs hooks that were installed for the project, and none after they were uninstalled', async () => {
    execFileSync('git', ['init', '-q'], { cwd: join(base, 'project') })
    const request = {
      agents: ['claude-code'] as const,
      scope: 'project' as const,
      place: {
        root: join(base, 'project'),
        home: join(base, 'home'),
        env: { GANTRY_GUARD_HOME: join(base, 'guard') },
      },
      program: { node: process.execPath, hookBin: join(base, 'hook-bin.js') },
      eventsOf: () => claudeCodeCodec.events,
      checkPerson: async () => {},
      seal: async () => {},
      isSealed: false,
      dryRun: false,
    }
    await installHooks(request)
    claude('-p', 'hi')
    expect(seen()).toContain('--agent claude-code SessionStart')
    expect(seen()).toContain('--agent claude-code UserPromptSubmit')
    await uninstallHooks(request)
    claude('-p', 'hi')
    // The agent does not wait for the last hook of the first session, so its line may come late.
    expect(seen().match(/ SessionStart /g)).toHaveLength(1)
  })
}
