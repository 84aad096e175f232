import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'
import type { HookedAgent } from '../../../src/agents/hook-codecs.ts'
import type { CliContext } from '../../../src/cli/context.ts'
import { installCommand } from '../../../src/cli/guard/install.ts'
import { proveCommand } from '../../../src/cli/guard/prove.ts'
import { proofGates } from '../../../src/guard/prove/gates/index.ts'
import { whenInstalled } from './when-installed.ts'

/** `guard prove` in a project that has the guard, with one pinned agent. `cannot` names the gates this agent has no way to enforce. */
export function describeProof(id: string, agent: HookedAgent): void {
  whenInstalled([id], `the proof in ${id}`, () => {
    const base = mkdtempSync(join(tmpdir(), 'gantry-proof-'))
    const [root, home] = [join(base, 'project'), join(base, 'home')]
    beforeAll(() => {
      for (const path of [root, home]) mkdirSync(path)
      const binary = findAgent(id)?.program ?? ''
      writeFileSync(
        join(root, 'gantry.yaml'),
        JSON.stringify({ agents: { mine: { driver: agent, binary } } }),
      )
    })
    afterAll(() => rmSync(base, { recursive: true, force: true }))

    /** Like a person's shell, with its own home and project. */
    const run = async (create: (context: CliContext) => Command, ...argv: readonly string[]) => {
      const printed: string[] = []
      let code = 0
      const stream = { isTTY: false, columns: 100, color: false, write: (text: string) => printed.push(text) }
      const context: CliContext = {
        cwd: root,
        env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' },
        stdout: stream,
        stderr: { ...stream, write: () => {} },
        signal: new AbortController().signal,
        setExitCode: (given) => {
          code = given
        },
      }
      await new Command().addCommand(create(context)).parseAsync(argv, { from: 'user' })
      return { code, out: printed.join('') }
    }

    test('every gate fires that this agent can enforce, and what is installed here is what was proven', {
      timeout: 300_000,
    }, async () => {
      await run(installCommand, 'install', '--agent', agent)
      const before = [readdirSync(root), readdirSync(home)]
      const { code, out } = await run(proveCommand, 'prove', '--agent', 'mine', '--json')
      const { verdict, agents, switched_off } = JSON.parse(out)
      const rows = agents[0].gates.map(({ gate, verdict: each, seen }: Record<string, string>) => [
        gate,
        each,
        seen,
      ])
      expect(rows).toEqual(proofGates.map(({ name }) => [name, 'fires', expect.any(String)]))
      expect(agents[0]).toMatchObject({ name: 'mine', agent, version: findAgent(id)?.version, problem: null })
      expect(agents[0].installation).toMatchObject({ state: 'same', seal: 'intact', problems: [] })
      expect([verdict, switched_off, code]).toEqual(['fires', [], 0])
      // Nothing of the person's was touched.
      expect([readdirSync(root), readdirSync(home)]).toEqual(before)
    })
  })
}
