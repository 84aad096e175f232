import type { CompactionTrick } from '../../../agents/hook-installer.ts'
import { GantryError } from '../../../core/error.ts'
import type { ModelCall } from '../../../models/boundary/contract.ts'
import type { GuardedProject, ProofGate } from '../contract.ts'
import { textOfCall } from '../observations.ts'
import { playWithCalls } from '../play-script.ts'
import { checkCommand, checkFiles, editThreshold, proofSettings } from '../proof-settings.ts'

const marker = 'canary-for-the-tree.txt'

/** Checked in the first request that the model gets. */
export const contextAtStart: ProofGate = {
  name: 'context at the start',
  expected: 'the first request to the model has tree, commands and rules',
  capability: 'injectAtStart',
  async play(stage) {
    const project = await stage.project({
      files: { ...checkFiles, [marker]: 'here\n' },
      settings: proofSettings(stage, { gate: true }),
    })
    const { calls } = await playWithCalls(project, { turns: [{ text: 'Nothing to do.' }] })
    const first = calls.find(({ kind }) => kind === 'turn')
    const text = first === undefined ? '' : textOfCall(first)
    const missing = Object.entries({
      tree: marker,
      commands: checkCommand,
      rules: 'enforced by hooks',
    }).flatMap(([name, part]) => (text.includes(part) ? [] : [name]))
    return missing.length === 0
      ? { fired: true, seen: 'everything is in the request' }
      : { fired: false, seen: `not in the request: ${missing.join(', ')}` }
  },
}

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
    const { calls } = await playWithCalls(project, {
      turns: [{ calls: [{ read: { path: 'note.txt' } }] }, ...edits, { text: 'Done.' }],
    })
    const turns = calls.filter(({ kind }) => kind === 'turn').map(textOfCall)
    const warned = turns.findIndex((text) => text.includes(warning))
    const last = `edit ${editThreshold}\n`
    if (project.read('note.txt') !== last)
      return { fired: false, seen: 'the file was not edited as the script asked' }
    if (warned === -1) return { fired: false, seen: 'no request to the model has a warning' }
    return warned === editThreshold + 1
      ? { fired: true, seen: `warned after edit ${editThreshold}` }
      : {
          fired: false,
          seen: `warned in request ${warned + 1}, which is not the one after edit ${editThreshold}`,
        }
  },
}

const task = 'Carry the canary over'
const heading = 'preserved across compaction'

/** Makes the agent compact its history, then calls the model again. */
export const relayCompaction: ProofGate = {
  name: 'relay over compaction',
  expected: 'the first request after a compaction has the state of the work',
  capability: 'relayCompaction',
  async play(stage) {
    const trick = stage.traits.compaction
    if (trick === null) return { fired: false, seen: 'there is no way to make it compact its history' }
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

/** Some work, a compaction, and more work: all requests that the model got. */
async function compactHistory(
  project: GuardedProject,
  trick: CompactionTrick,
): Promise<readonly ModelCall[]> {
  const look = { calls: [{ run: 'cat note.txt' }] }
  const done = { text: 'Done.' }
  if (trick.kind === 'full_context') {
    const full = { ...look, usage: { input_tokens: trick.inputTokens } }
    const script = { pick: 'sequence', turns: [full, look, done] }
    return (await playWithCalls(project, script, { config: trick.config })).calls
  }
  const first = await playWithCalls(project, { turns: [look, done] })
  if (first.session === null)
    throw new GantryError('SPAWN_FAILED', 'the agent does not report a session id to resume')
  const config = trick.goOn(first.session)
  const second = await playWithCalls(project, { turns: [done] }, { prompt: trick.prompt, config })
  const third = await playWithCalls(
    project,
    { pick: 'sequence', turns: [look, done] },
    { prompt: 'Go on.', config },
  )
  return [first, second, third].flatMap(({ calls }) => calls)
}
