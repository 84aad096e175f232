import type {
  DeclaredCommand,
  EventEntry,
  EvidenceHistory,
  Fold,
  GateHistory,
  LedgerEntry,
  LedgerEvent,
  Note,
} from '../contract.ts'

const maxSubagents = 100
const maxWaived = 50

/** What the gate has let pass and refused, and which tree it asks nothing about. */
export const gateFold: Fold<GateHistory> = {
  initial: {
    baseTree: null,
    refusals: {},
    lastEnd: null,
    waived: [],
    unlockedUntilMs: 0,
    subagentTrees: {},
    promptId: null,
    sealed: null,
  },
  apply: (state, entry) =>
    entry.kind === 'event'
      ? afterEvent(state, entry)
      : notesOf(entry).reduce((after, note) => afterNote(after, note, entry), state),
}

function afterEvent(before: GateHistory, { event }: EventEntry): GateHistory {
  const state = counted(atPrompt(before, event), event)
  const { tree } = event.facts
  switch (event.kind) {
    case 'session_start':
      // A compaction or a resumed session goes on with work that may not be verified yet.
      return state.baseTree === null && tree != null ? based(state, tree) : state
    case 'prompt': {
      // What changed while the agent had nothing to do was changed by somebody else.
      const isIdle = state.settled === true || state.baseTree === null
      return isIdle && event.flag !== true && tree != null ? based(state, tree) : state
    }
    case 'tool_before':
    case 'tool_after':
      return state.settled === true && mayChangeTree(event) ? { ...state, settled: false } : state
    case 'stop':
      return tree != null && tree === state.baseTree && !hasTicked(state)
        ? { ...state, settled: true }
        : state
    case 'subagent_start':
      return event.agentId === null
        ? state
        : { ...state, subagentTrees: remembered(state.subagentTrees, event.agentId, tree ?? null) }
    default:
      return state
  }
}

/** A new prompt of a person, by its event or by its id alone, begins a new count of refusals. */
function atPrompt(state: GateHistory, event: LedgerEvent): GateHistory {
  if (event.kind === 'prompt') {
    const promptId = event.promptId ?? state.promptId
    return event.flag === true ? { ...state, promptId } : { ...state, promptId, refusals: {} }
  }
  if (event.agentId !== null || event.promptId === null || event.promptId === state.promptId) return state
  const { promptId } = event
  return state.promptId === null ? { ...state, promptId } : { ...state, promptId, refusals: {} }
}

function mayChangeTree({ call }: LedgerEvent): boolean {
  return call !== undefined && call.action !== 'read'
}

function based(state: GateHistory, baseTree: string): GateHistory {
  const { ticked } = state
  return { ...state, baseTree, settled: true, ...(ticked !== undefined && { baseTicked: ticked }) }
}

function counted(state: GateHistory, { facts }: LedgerEvent): GateHistory {
  const ticked = facts.project?.plan?.done
  return ticked === undefined || ticked === state.ticked ? state : { ...state, ticked }
}

/** A task was called done since the base was taken. It is no change of the tree, but a claim that wants evidence. */
export function hasTicked({ ticked, baseTicked }: GateHistory): boolean {
  return ticked !== undefined && baseTicked !== undefined && ticked > baseTicked
}

function afterNote(state: GateHistory, note: Note, entry: LedgerEntry): GateHistory {
  switch (note.kind) {
    case 'refused_stop': {
      const who = note.agentId ?? 'main'
      const count = Object.hasOwn(state.refusals, who) ? (state.refusals[who] ?? 0) : 0
      return { ...state, refusals: remembered(state.refusals, who, count + 1) }
    }
    case 'ended': {
      const lastEnd = { state: note.state, tree: note.tree, at: entry.at }
      return note.tree === null ? { ...state, lastEnd } : { ...based(state, note.tree), lastEnd }
    }
    case 'waived':
      return note.tree === null ? state : { ...state, waived: [...state.waived, note.tree].slice(-maxWaived) }
    case 'unlocked':
      return { ...state, unlockedUntilMs: note.untilMs }
    case 'sealed':
      return { ...state, sealed: note.files }
    default:
      return state
  }
}

/** With a bound: an agent may start any number of subagents. */
function remembered<Value>(
  all: Readonly<Record<string, Value>>,
  key: string,
  value: Value,
): Readonly<Record<string, Value>> {
  const others = Object.entries(all).filter(([name]) => name !== key)
  return Object.fromEntries([...others.slice(1 - maxSubagents), [key, value]])
}

/** What an entry wants remembered: the notes of a decision, or one written by a person or another program. */
export function notesOf(entry: LedgerEntry): readonly Note[] {
  switch (entry.kind) {
    case 'event':
      return []
    case 'decision':
      return entry.notes
    case 'note':
      return [entry.note]
  }
}

const maxKnown = 200
const maxCommands = 200

/** What the commands of the project are known to have proved. Nothing is ever reset: evidence is bound to its tree. */
export const evidenceFold: Fold<EvidenceHistory> = {
  initial: { byCommand: {}, rejected: {}, tests: null, testsGreen: false },
  apply: (state, entry) =>
    entry.kind === 'event' ? withKnownCommands(state, entry) : notesOf(entry).reduce(withProof, state),
}

function withKnownCommands(state: EvidenceHistory, { event }: EventEntry): EvidenceHistory {
  const now = event.facts.project?.commands
  if (now === undefined) return state
  const isNew = event.kind === 'session_start' && event.source === 'startup'
  const known = union(isNew ? [] : (state.known ?? []), now)
  return { ...state, known }
}

function withProof(state: EvidenceHistory, note: Note): EvidenceHistory {
  switch (note.kind) {
    case 'evidence': {
      const { command } = note.evidence
      return {
        ...state,
        byCommand: newest(state.byCommand, command, { ...note.evidence, by: note.by }),
        rejected: withoutCommand(state.rejected, command),
      }
    }
    case 'no_evidence':
      return { ...state, rejected: newest(state.rejected, note.command, note.why) }
    case 'tests_seen':
      return { ...state, tests: note.inventory, testsGreen: note.green }
    default:
      return state
  }
}

function newest<Value>(
  all: Readonly<Record<string, Value>>,
  key: string,
  value: Value,
): Readonly<Record<string, Value>> {
  const kept = Object.entries(all).filter(([name]) => name !== key)
  return Object.fromEntries([...kept.slice(1 - maxCommands), [key, value]])
}

function withoutCommand(
  all: Readonly<Record<string, string>>,
  key: string,
): Readonly<Record<string, string>> {
  if (!Object.hasOwn(all, key)) return all
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== key))
}

function union(old: readonly DeclaredCommand[], now: readonly DeclaredCommand[]): readonly DeclaredCommand[] {
  const texts = new Set(now.map(({ command }) => command))
  return [...now, ...old.filter(({ command }) => !texts.has(command))].slice(0, maxKnown)
}
