import { relative } from 'node:path'
import type { Scene } from '../../rules/contract.ts'
import { printable } from '../printable.ts'
import { block, fenced, fitting } from './block.ts'
import { evidenceLines } from './evidence-lines.ts'
import { stateLines } from './state-lines.ts'

const maxPreservedLength = 2500
const maxStateLength = 1400
/** For the heading and the fence of the commands. */
const frame = 60
const maxCommands = 10
const maxWarnings = 3
const maxFiles = 3

/** What must not be lost when the conversation is shortened, from the ledger. */
export function preservedState(scene: Scene): string {
  const { history, facts } = scene
  const commands = history.session.declared.slice(0, maxCommands)
  const state = block(
    'Harness State (preserved across compaction)',
    [
      ...stateLines(history.tasks),
      ...oftenEdited(scene),
      ...warnings(history.session.warned),
      'The work goes on with the current task from this state; it does not start over.',
    ],
    maxStateLength,
  )
  if (commands.length === 0) return state
  const { lines } = fitting(
    evidenceLines(commands, history.evidence, facts.tree),
    maxPreservedLength - maxStateLength - frame,
  )
  return `${state}\n\n${block('Verification Commands', fenced(lines), maxPreservedLength)}`
}

/** Files on the way to a loop: whoever forgets how often they were changed begins the loop again. */
function oftenEdited({ history, settings, event }: Scene): readonly string[] {
  const { enabled, editThreshold } = settings.loopDetection
  const often = Object.entries(history.edits.counts)
    .filter(([, count]) => enabled && count >= Math.max(2, Math.ceil(editThreshold / 2)))
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, maxFiles)
  if (often.length === 0) return []
  const names = often.map(([path, count]) => `${printable(relative(event.root, path), 80)} (${count})`)
  return ['- Files edited often so far:', ...fenced(names)]
}

function warnings(warned: readonly string[]): readonly string[] {
  if (warned.length === 0) return []
  // Their hashes tell a machine which loop it was, and nobody else anything.
  const lines = warned
    .slice(-maxWarnings)
    .map((about) => printable(about.replaceAll(/\s*\b[0-9a-f]{12,}\b/g, ''), 100))
  return ['- Warned about:', ...fenced(lines)]
}
