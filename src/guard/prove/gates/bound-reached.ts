import { act } from '../act.ts'
import type { ProofGate } from '../contract.ts'
import { endsIn, refusalsIn } from '../ledger-facts.ts'
import { checkFiles, maxRefusals, proofSettings } from '../proof-settings.ts'

/** A model that only ever claims to be done. */
export const boundReached: ProofGate = {
  name: 'bound of refusals',
  expected: `let go after ${maxRefusals} refusals, and called CAPPED`,
  capability: 'refuseStop',
  async play(stage) {
    const project = await stage.project({
      files: checkFiles,
      settings: proofSettings(stage, { gate: true }),
    })
    await act(project, {
      turns: [{ calls: [{ write: { path: 'answer.txt', content: 'wrong\n' } }] }, { text: 'Done.' }],
    })
    const entries = project.ledger()
    const refusals = refusalsIn(entries)
    const end = endsIn(entries).at(-1) ?? 'no end'
    return { fired: refusals === maxRefusals && end === 'CAPPED', seen: `${refusals} refused, then ${end}` }
  },
}
