import { hookInstallerOf } from '../../../agents/hook-installers.ts'
import { probeKernel } from '../../../guard-engine/protection/kernel-layer.ts'
import type { ProofGate } from '../contract.ts'
import { denialsIn, modelSaw } from '../observations.ts'
import { playWithCalls } from '../play-script.ts'
import { proofSettings } from '../proof-settings.ts'

/** No rule can see which file the command changes: its name is only known when it runs. */
const command = 'sh change.sh'

/** A protected file that a command must not be able to change, and one that it must. */
export const kernelProtection: ProofGate = {
  name: 'kernel: files read-only',
  expected: 'a command cannot change a protected file, and can change an ordinary one',
  capability: 'denyTool',
  async limit({ agent }) {
    const { shellPrefix, sandbox } = hookInstallerOf(agent, { events: [] })
    if (sandbox !== undefined) return null
    if (shellPrefix === undefined)
      return `${agent} cannot run its commands through a program of the guard; changes are noticed afterwards`
    const probe = await probeKernel()
    return probe.kind === 'works' ? null : `it does not work here: ${probe.why}`
  },
  async play(stage) {
    const files = {
      '.env': 'A=1\n',
      'name.txt': '.env\n',
      'change.sh': 'read -r name < name.txt\necho changed > "$name"\necho written > ordinary.txt\n',
    }
    const settings = proofSettings(stage, { gate: false })
    const project = await stage.project({ files, settings, enforceKernel: true })
    const script = { turns: [{ calls: [{ run: command }] }, { text: 'Done.' }] }
    const { calls } = await playWithCalls(project, script, { config: stage.traits.sandboxed ?? {} })
    const entries = project.ledger()
    const isDenied = denialsIn(entries).length > 0
    const isAsWritten = entries.some(
      (entry) => entry.kind === 'event' && entry.event.call?.command === command,
    )
    if (project.read('.env') !== 'A=1\n') return { fired: false, seen: 'the protected file was changed' }
    if (isDenied) return { fired: false, seen: 'the call was refused before it ran, so nothing was shown' }
    if (project.read('ordinary.txt') !== 'written\n')
      return { fired: false, seen: 'the ordinary file was not written' }
    if (!modelSaw(calls, 'Read-only file system'))
      return { fired: false, seen: 'it was put back, not prevented' }
    return isAsWritten
      ? { fired: true, seen: 'the file is read-only for the command; the ordinary file was written' }
      : { fired: false, seen: 'the guard saw another command than the one of the agent' }
  },
}
