import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { claudeCodeCodec } from '../../../src/agents/claude-code/hooks.ts'
import type { HookedAgent } from '../../../src/agents/hook-codecs.ts'
import type { GuardedProject } from '../../../src/guard/prove/contract.ts'
import { denialsIn } from '../../../src/guard/prove/observations.ts'
import { pluginFiles, writeGuardPlugin } from '../../../src/guard-install/guard-plugin.ts'
import { protectFiles } from '../../../src/rules/protect-files.ts'
import { protectItself } from '../../../src/rules/protect-itself.ts'
import { describeGuard } from '../support/guard.conformance.ts'
import { type GuardedStage, isThere, lastSentText, sentResults } from '../support/guarded-stage.ts'

describeGuard('copilot', {
  // Its shell keeps its directory between calls, and hooks do not see which one it is.
  verify: ({ root }) => `cd '${root}' && node --test`,
  evidenceBy: 'agent',
  also: (stage) => {
    testBorrowedHooks(stage)
    testSwitch(stage)
  },
})

/** Copilot also runs the hooks of Claude Code, without their arguments and in an imitation of Claude Code's payloads. */
function testBorrowedHooks(stage: () => GuardedStage): void {
  const settings = { middleware: { pre_completion_checklist: { enabled: false } } }
  const script = {
    turns: [
      { calls: [{ write: { path: '.env', content: 'A=1\n' } }] },
      { calls: [{ write: { path: 'note.txt', content: 'x\n' } }] },
      { calls: [{ run: 'echo A=1 > .env' }] },
      { calls: [{ run: 'echo shell > shell.txt' }] },
      { text: 'Done.' },
    ],
  }

  test.each<[string, readonly HookedAgent[]]>([
    ['only those of Claude Code', ['claude-code']],
    ['its own and those of Claude Code', ['claude-code', 'copilot']],
  ])('with %s every call is judged once, and tools work', async (_, agents) => {
    const project = await stage().project({ settings })
    await stage().uninstall(project, ['copilot'])
    await stage().install(project, agents)
    await expectJudgedOnce(project, await project.play(script))
  })

  test('the plugin written for Claude Code behaves the same', async () => {
    const project = await stage().project({ settings })
    await stage().uninstall(project, ['copilot'])
    const plugin = join(project.home, 'gantry-guard')
    const program = { node: process.execPath, hookBin: stage().hookBin }
    writeGuardPlugin(plugin, pluginFiles(claudeCodeCodec.events, program), { dryRun: false })
    await expectJudgedOnce(project, await project.play(script, { config: { plugins: [plugin] } }))
  })

  async function expectJudgedOnce(
    project: GuardedProject,
    played: Awaited<ReturnType<GuardedProject['play']>>,
  ) {
    expect([project.read('.env'), project.read('note.txt'), project.read('shell.txt')]).toEqual([
      null,
      'x\n',
      'shell\n',
    ])
    expect(denialsIn(project.ledger())).toEqual([protectFiles.name, protectFiles.name])
    expect(sentResults(played).filter((text) => text.includes('is protected'))).toHaveLength(2)
    const events = project.ledger().flatMap((entry) => (entry.kind === 'event' ? [entry.event] : []))
    expect(new Set(events.map(({ agent }) => agent))).toEqual(new Set(['copilot']))
    const count = (kind: string): number => events.filter((event) => event.kind === kind).length
    expect(['session_start', 'prompt', 'tool_before', 'tool_after', 'stop'].map(count)).toEqual([
      1, 1, 4, 2, 1,
    ])
    expect(lastSentText(played)).toContain('Facts about this project, gathered by its guard')
  }
}

function testSwitch(stage: () => GuardedStage): void {
  test.each(['.github/copilot/settings.local.json', '.claude/settings.json'])(
    'a switch in %s runs no hook, which guard status says and the guard does not let an agent write',
    async (path) => {
      const project = await stage().project()
      const text = '{ "disableAllHooks": true }\n'
      mkdirSync(dirname(join(project.root, path)), { recursive: true })
      await project.play({ turns: [{ calls: [{ write: { path, content: text } }] }, { text: 'Done.' }] })
      expect(denialsIn(project.ledger())).toEqual([protectItself.name])
      expect(isThere(project, path)).toBe(false)
      const events = project.ledger().length
      writeFileSync(join(project.root, path), text)
      await project.play({ turns: [{ calls: [{ run: 'echo A=1 > .env' }] }, { text: 'Done.' }] })
      expect(isThere(project, '.env')).toBe(true)
      expect(project.ledger()).toHaveLength(events)
      const { stdout, status } = stage().gantry(project, 'guard', 'status', '--agent', 'copilot')
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
        `\`disableAllHooks\` is true in ${join(project.root, path)}`,
      )
      expect(status).toBe(1)
    },
  )
}
