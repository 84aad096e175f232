import { act } from '../act.ts'
import type { ProofGate } from '../contract.ts'
import { proofSettings } from '../proof-settings.ts'
import { denialSeen } from './denial-seen.ts'

/** A file tool on a protected file. An ordinary file in between shows that it is not everything that is refused. */
export const denyFile: ProofGate = {
  name: 'deny a file tool',
  expected: 'a protected file is not written, an ordinary one is',
  capability: 'denyTool',
  async play(stage) {
    const project = await stage.project({ settings: proofSettings(stage, { gate: false }) })
    const { calls } = await act(project, {
      turns: [
        { calls: [{ write: { path: '.env.canary', content: 'written\n' } }] },
        { calls: [{ write: { path: 'ordinary.txt', content: 'written\n' } }] },
        { text: 'Done.' },
      ],
    })
    return denialSeen(project, calls)
  },
}
