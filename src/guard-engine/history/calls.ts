import type { CallHistory, EventEntry, Fold, OpenCall, PastCall, StoredCall } from '../contract.ts'
import { onlyLooks } from '../loops/only-looks.ts'
import { printable } from '../printable.ts'

const maxRecent = 64
const maxOpen = 64
const maxLabelChars = 120

/** Calls that ended, newest last, and calls that did not end yet. */
export const callFold: Fold<CallHistory> = {
  initial: { recent: [], open: {}, total: 0, failures: 0 },
  apply: (state, entry) => {
    switch (entry.kind) {
      case 'event':
        return entry.event.call === undefined ? state : applyCall(state, entry, entry.event.call)
      case 'decision': {
        const done = Object.entries(state.open).find(
          ([, call]) => call.ended === entry.of || (entry.verdict === 'deny' && call.entry === entry.of),
        )
        return done === undefined ? state : { ...state, open: without(state.open, done[0]) }
      }
      case 'note':
        return state
    }
  },
}

function applyCall(state: CallHistory, entry: EventEntry, call: StoredCall): CallHistory {
  const key = call.id ?? call.signature
  switch (entry.event.kind) {
    case 'tool_before': {
      const begun: OpenCall = { tree: entry.event.facts.tree ?? null, at: entry.at, entry: entry.id }
      return { ...state, open: bounded({ ...without(state.open, key), [key]: begun }) }
    }
    case 'tool_denied':
      return { ...state, open: without(state.open, key) }
    case 'tool_after': {
      const past = pastCall(entry, call)
      const begun = state.open[key]
      return {
        recent: [...state.recent.slice(1 - maxRecent), past],
        open: begun === undefined ? state.open : { ...state.open, [key]: { ...begun, ended: entry.id } },
        total: state.total + 1,
        failures: state.failures + (past.outcome === 'failure' ? 1 : 0),
      }
    }
    default:
      return state
  }
}

function pastCall({ event }: EventEntry, call: StoredCall): PastCall {
  const label = (call.command ?? call.paths[0] ?? '').replaceAll(/\s+/g, ' ').trim()
  return {
    signature: call.signature,
    tool: call.tool,
    action: call.action,
    agentId: event.agentId,
    outcome: call.outcome?.kind ?? 'unknown',
    result: call.outcome?.signature ?? '',
    tree: event.facts.tree ?? null,
    edited: event.facts.edited ?? [],
    label: printable(label, maxLabelChars),
    ...(onlyLooks(call) && { quiet: true }),
  }
}

function without(open: CallHistory['open'], key: string): CallHistory['open'] {
  if (!Object.hasOwn(open, key)) return open
  return Object.fromEntries(Object.entries(open).filter(([name]) => name !== key))
}

/** A call whose end was never told, because the agent was killed, must not stay for ever. */
function bounded(open: CallHistory['open']): CallHistory['open'] {
  const entries = Object.entries(open)
  return entries.length <= maxOpen ? open : Object.fromEntries(entries.slice(-maxOpen))
}
