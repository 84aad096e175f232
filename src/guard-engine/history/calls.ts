import type { CallHistory, EventEntry, Fold, OpenCall, PastCall, StoredCall } from '../contract.ts'
import { isReadOnlyCall } from '../loops/is-read-only-call.ts'
import { withoutKey } from './gate.ts'
import { callLabel } from './protection.ts'

const maxRecent = 64
const maxOpen = 64

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
        return done === undefined ? state : { ...state, open: withoutKey(state.open, done[0]) }
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
      const begun: OpenCall = {
        tree: entry.event.facts.tree ?? null,
        at: entry.at,
        cwd: entry.event.cwd,
        entry: entry.id,
        ...(call.action !== 'read' && { label: callLabel(call) }),
      }
      return { ...state, open: bounded({ ...withoutKey(state.open, key), [key]: begun }) }
    }
    case 'tool_denied':
      return { ...state, open: withoutKey(state.open, key) }
    case 'tool_after': {
      const begun = state.open[key]
      const past = pastCall(entry, call, begun?.at ?? entry.at)
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

function pastCall({ event }: EventEntry, call: StoredCall, began: string): PastCall {
  return {
    signature: call.signature,
    tool: call.tool,
    action: call.action,
    agentId: event.agentId,
    outcome: call.outcome?.kind ?? 'unknown',
    result: call.outcome?.signature ?? '',
    tree: event.facts.tree ?? null,
    edited: event.facts.edited ?? [],
    label: callLabel(call),
    ...placeOf(event.cwd, call),
    ...(isReadOnlyCall(call) && { quiet: true }),
    ...(call.action === 'shell' && call.outcome?.kind === 'unknown' && { began }),
  }
}

/** The same command in another directory or package is other work. */
function placeOf(cwd: string, { action, command = '' }: StoredCall): Pick<PastCall, 'place'> {
  if (action !== 'shell') return {}
  const moves = [
    ...command.matchAll(
      /(?:^|[;&|(]\s*)(?:cd|pushd)\s+([^\s;&|)]+)|\s(?:-C|--prefix|--cwd|--filter|-w|--workspace|-p|--package|--manifest-path)[\s=]+([^\s;&|]+)/g,
    ),
  ]
  return { place: [cwd, ...moves.map(([, to, of]) => to ?? of ?? '')].join(' ') }
}

/** A call whose end was never reported, because the agent was killed, must not stay forever. */
function bounded(open: CallHistory['open']): CallHistory['open'] {
  const keys = Object.keys(open)
  return keys.length <= maxOpen ? open : withoutKey(open, keys[0] ?? '')
}
