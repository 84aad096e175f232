import { act } from '../act.ts'
import type { ProofGate } from '../contract.ts'
import { editThreshold, proofSettings } from '../proof-settings.ts'
import { textOfCall } from '../told-model.ts'

const warning = 'This looks like a loop'

export const loopWarning: ProofGate = {
  name: 'loop warning',
  expected: `the model is warned after ${editThreshold} edits of one file, not before`,
  capability: 'injectAfterTool',
  async play(stage) {
    const project = await stage.project({
      files: { 'note.txt': 'edit 0\n' },
      settings: proofSettings(stage, { gate: false }),
    })
    const edits = Array.from({ length: editThreshold }, (_, index) => ({
      calls: [{ edit: { path: 'note.txt', old: `edit ${index}`, new: `edit ${index + 1}` } }],
    }))
    const { calls } = await act(project, {
      turns: [{ calls: [{ read: { path: 'note.txt' } }] }, ...edits, { text: 'Done.' }],
    })
    const turns = calls.filter(({ kind }) => kind === 'turn').map(textOfCall)
    const warned = turns.findIndex((text) => text.includes(warning))
    const last = `edit ${editThreshold}\n`
    if (project.read('note.txt') !== last)
      return { fired: false, seen: 'the file was not edited as scripted' }
    if (warned === -1) return { fired: false, seen: 'no request to the model has a warning' }
    return warned === editThreshold + 1
      ? { fired: true, seen: `warned after edit ${editThreshold}` }
      : {
          fired: false,
          seen: `warned in request ${warned + 1}, which is not the one after edit ${editThreshold}`,
        }
  },
}
