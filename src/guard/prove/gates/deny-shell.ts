import { act } from '../act.ts'
import type { ProofGate } from '../contract.ts'
import { proofSettings } from '../proof-settings.ts'
import { denialSeen } from './denial-seen.ts'

/** The same file by a redirection, with its name put together by the shell. */
export const denyShell: ProofGate = {
  name: 'deny a shell command',
  expected: 'a redirection to a protected file is not run, an ordinary one is',
  capability: 'denyTool',
  async play(stage) {
    const project = await stage.project({ settings: proofSettings(stage, { gate: false }) })
    const { calls } = await act(project, {
      turns: [
        { calls: [{ run: `name=canary; printf 'written\\n' > ".env.$name"` }] },
        { calls: [{ run: `name=ordinary; printf 'written\\n' > "$name.txt"` }] },
        { text: 'Done.' },
      ],
    })
    return denialSeen(project, calls)
  },
}
