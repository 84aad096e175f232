import { act } from '../act.ts'
import type { ProofGate } from '../contract.ts'
import { checkCommand, checkFiles, proofSettings } from '../proof-settings.ts'
import { textOfCall } from '../told-model.ts'

const marker = 'canary-for-the-tree.txt'

/** Seen where it counts: in the first request that the model gets. */
export const contextAtStart: ProofGate = {
  name: 'context at the start',
  expected: 'the first request to the model has tree, commands and rules',
  capability: 'injectAtStart',
  async play(stage) {
    const project = await stage.project({
      files: { ...checkFiles, [marker]: 'here\n' },
      settings: proofSettings(stage, { gate: true }),
    })
    const { calls } = await act(project, { turns: [{ text: 'Nothing to do.' }] })
    const first = calls.find(({ kind }) => kind === 'turn')
    const text = first === undefined ? '' : textOfCall(first)
    const missing = Object.entries({
      tree: marker,
      commands: checkCommand,
      rules: 'enforced by hooks',
    }).flatMap(([name, part]) => (text.includes(part) ? [] : [name]))
    return missing.length === 0
      ? { fired: true, seen: 'all of it is in the request' }
      : { fired: false, seen: `not in the request: ${missing.join(', ')}` }
  },
}
