import { compactHistory } from '../compact-history.ts'
import type { ProofGate } from '../contract.ts'
import { proofSettings } from '../proof-settings.ts'
import { textOfCall } from '../told-model.ts'

const task = 'Carry the canary over'
const heading = 'preserved across compaction'

/** The agent has its history summed up; then the model is asked again. */
export const relayCompaction: ProofGate = {
  name: 'relay over compaction',
  expected: 'the first request after a compaction has the state of the work',
  capability: 'relayCompaction',
  async play(stage) {
    const trick = stage.traits.compaction
    if (trick === null) return { fired: false, seen: 'nothing from outside makes it compact its history' }
    const project = await stage.project({
      files: { 'IMPLEMENTATION_PLAN.md': `# Plan\n\n- [ ] ${task}\n`, 'note.txt': 'here\n' },
      settings: proofSettings(stage, { gate: false }),
    })
    const calls = await compactHistory(project, trick)
    const compacted = calls.findIndex(({ kind }) => kind === 'compaction')
    if (compacted === -1) return { fired: false, seen: 'the agent did not compact its history' }
    const next = calls.slice(compacted + 1).find(({ kind }) => kind === 'turn')
    const text = next === undefined ? '' : textOfCall(next)
    return text.includes(heading) && text.includes(task)
      ? { fired: true, seen: 'it is in the request, with the current task' }
      : { fired: false, seen: 'the request after the compaction does not have it' }
  },
}
