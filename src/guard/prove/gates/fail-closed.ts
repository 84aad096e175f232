import { join } from 'node:path'
import type { HookProgram } from '../../../guard-install/hook-program.ts'
import { actOrStayMute } from '../act.ts'
import type { ProofGate, ProofStage, Sighting } from '../contract.ts'

/** The hooks start a program that is not there, as after Gantry was uninstalled or half copied. */
export const failClosedWithoutProgram: ProofGate = {
  name: 'fail closed: no program',
  expected: 'no tool runs while the program of the hooks is missing',
  capability: 'failClosed',
  play: (stage) => playBroken(stage, { ...stage.program, hookBin: join(stage.nowhere, 'hook-bin.js') }),
}

/** The hooks cannot be started at all, as after an upgrade of Node took the old one away. */
export const failClosedWithoutNode: ProofGate = {
  name: 'fail closed: no Node',
  expected: 'no tool runs while the Node of the hooks is missing',
  capability: 'failClosed',
  play: (stage) => playBroken(stage, { ...stage.program, node: join(stage.nowhere, 'node') }),
}

async function playBroken(stage: ProofStage, program: HookProgram): Promise<Sighting> {
  const project = await stage.project({ program })
  const { calls } = await actOrStayMute(project, {
    turns: [{ calls: [{ run: `printf 'written\\n' > ordinary.txt` }] }, { text: 'Done.' }],
  })
  if (project.read('ordinary.txt') !== null) return { fired: false, seen: 'the tool ran unguarded' }
  return { fired: true, seen: calls.length === 0 ? 'the whole agent was blocked' : 'the tool was blocked' }
}
