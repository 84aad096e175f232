import { relative } from 'node:path'
import { evidenceStatus } from '../core/evidence.ts'
import { block, fenced, fitting, stateLines } from '../guard-engine/context/block.ts'
import type { DeclaredCommand, EvidenceHistory } from '../guard-engine/contract.ts'
import { runsOn } from '../guard-engine/history/gate.ts'
import { printable } from '../guard-engine/printable.ts'
import type { Rule, RuleAnswer, Scene } from './contract.ts'

/**
 * Carries the state over a compaction. Text added before it would influence the summary, so the state is only stored, and added when the
 * session starts again.
 */
export const relayCompaction: Rule = {
  name: 'relay-compaction',
  on: ['compact_before', 'session_start'],
  wants: (scene) => (isRelayed(scene) ? ['tree'] : []),
  judge: (scene) => (isRelayed(scene) ? relayed(scene) : null),
}

function isRelayed({ event }: Omit<Scene, 'facts'>): boolean {
  return event.kind === 'compact_before' || (event.kind === 'session_start' && event.source !== 'startup')
}

function relayed(scene: Scene): RuleAnswer {
  const { event, history, settings } = scene
  const saved = event.kind === 'session_start' && event.source === 'compact' ? history.session.relay : null
  // Not every agent announces a compaction. The ledger has the same data afterwards.
  const text = saved ?? preservedState(scene)
  const remember = [{ kind: 'relay', text }] as const
  return settings.contextInjection.enabled && isNeeded(scene) ? { context: text, remember } : { remember }
}

/** A resumed session has its conversation and gets its state with the other facts. */
function isNeeded({ event, history }: Scene): boolean {
  if (event.kind !== 'session_start') return false
  if (event.source === 'compact') return true
  return event.source === 'clear' && (history.tasks.phase !== 'idle' || history.calls.total > 0)
}

const maxPreservedLength = 2500
const maxStateLength = 1400
/** Room for the heading and the fence of the commands. */
const frame = 60
const maxCommands = 10
const maxWarnings = 3
const maxFiles = 3

/** The state to keep when the conversation is shortened, from the ledger. */
function preservedState(scene: Scene): string {
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

/** Files with many edits: without this count, the loop could start again after the compaction. */
function oftenEdited({ history, settings, event }: Scene): readonly string[] {
  const { enabled, editThreshold } = settings.loopDetection
  const often = Object.entries(history.edits.files)
    .map(([path, { count }]) => [path, count] as const)
    .filter(([, count]) => enabled && count >= Math.max(2, Math.ceil(editThreshold / 2)))
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, maxFiles)
  if (often.length === 0) return []
  const names = often.map(([path, count]) => `${printable(relative(event.root, path), 80)} (${count})`)
  return ['- Files edited often so far:', ...fenced(names)]
}

function warnings(warned: readonly string[]): readonly string[] {
  if (warned.length === 0) return []
  // Their hashes mean nothing to a reader.
  const lines = warned
    .slice(-maxWarnings)
    .map((about) => printable(about.replaceAll(/\s*\b[0-9a-f]{12,}\b/g, ''), 100))
  return ['- Warned about:', ...fenced(lines)]
}

const maxCommandLength = 160

/** Each command with the state of its last run, from the ledger. */
function evidenceLines(
  commands: readonly DeclaredCommand[],
  evidence: EvidenceHistory,
  tree: string | null,
): readonly string[] {
  return commands.map(
    ({ command }) => `${printable(command, maxCommandLength)}  (${standing(command, evidence, tree)})`,
  )
}

function standing(command: string, evidence: EvidenceHistory, tree: string | null): string {
  const { rejected } = evidence
  const byCommand = runsOn(evidence, tree)
  const why = Object.hasOwn(rejected, command) ? rejected[command] : undefined
  const run = Object.hasOwn(byCommand, command) ? byCommand[command] : undefined
  if (run === undefined)
    return why === undefined ? 'not run yet' : `its last run did not count: ${printable(why, 80)}`
  if (tree === null)
    return run.exitCode === 0 ? 'passed when it last ran' : `failed with exit code ${run.exitCode}`
  const before = run.exitCode === 0 ? 'passed, but' : `failed with exit code ${run.exitCode}, and`
  return {
    green: 'passed on the tree as it is',
    red: `failed with exit code ${run.exitCode} on the tree as it is`,
    hollow: 'ran no test',
    stale: `${before} the tree has changed since`,
    missing: 'not run yet',
  }[evidenceStatus([run], { kind: run.kind, treeHash: tree })]
}
