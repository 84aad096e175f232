import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'
import { type HookedAgent, hookCodecs } from '../../../src/agents/hook-codecs.ts'
import { hookInstallerOf } from '../../../src/agents/hook-installers.ts'
import { agentSchema, createAgent } from '../../../src/agents/index.ts'
import { openStage } from './play.ts'
import { whenInstalled } from './when-installed.ts'

/** The file that `guard install` would write into a project makes the real agent start the hook program, with the event as argument. */
export function describeHookFile(agent: HookedAgent, config: object, expected: readonly string[]): void {
  whenInstalled([agent], `the hook file of ${agent}`, () => {
    const scratch = mkdtempSync(join(tmpdir(), 'gantry-hook-file-'))
    afterAll(() => rmSync(scratch, { recursive: true, force: true }))

    test('makes it start the hook program for every event of a turn', async () => {
      const seen = join(scratch, "it's seen")
      const hookBin = join(scratch, 'hook-bin.js')
      writeFileSync(
        hookBin,
        `require('node:fs').appendFileSync(${JSON.stringify(seen)}, process.argv.slice(2).join(' ') + '\\n')\n`,
      )
      const installer = hookInstallerOf(agent, hookCodecs[agent])
      const command = { program: process.execPath, args: [hookBin, '--agent', agent] }
      const [path = ''] = installer.files('project', { root: '', home: '', env: {} })
      const stage = await openStage()
      try {
        const binary = findAgent(agent)?.program ?? ''
        const driver = createAgent(agent, agentSchema.parse({ ...config, binary }), { base: scratch })
        await stage.play(
          driver,
          { turns: [{ text: 'Done.' }] },
          {
            files: { [path]: installer.install(null, command) },
            prompt: 'Say done.',
          },
        )
      } finally {
        await stage.close()
      }
      const events = readFileSync(seen, 'utf8').trim().split('\n')
      expect(events).toEqual(expect.arrayContaining(expected.map((event) => `--agent ${agent} ${event}`)))
    })
  })
}
