import type {
  EventEntry,
  Facts,
  Fold,
  LedgerEntry,
  Note,
  ProtectionHistory,
  StoredCall,
  UnseenChange,
} from '../contract.ts'
import { printable } from '../printable.ts'
import { notesOf } from './gate.ts'

const maxUnseen = 60
const maxLabelChars = 120

/** Which changes of protected files no person has acknowledged yet. */
export const protectionFold: Fold<ProtectionHistory> = {
  initial: { unseen: [], refusals: 0, turnAt: '', left: null, promptId: null, isWatched: false },
  apply: (state, entry) =>
    entry.kind === 'event'
      ? withChanges(inTurn(state, entry), entry)
      : notesOf(entry).reduce((after, note) => afterNote(after, note, entry), state),
}

/** A new prompt starts a new count of refusals. Calls that began before it have ended or will never report their end. */
function inTurn(state: ProtectionHistory, { event, at }: EventEntry): ProtectionHistory {
  const isTyped = event.kind === 'prompt' && event.flag !== true
  const { promptId } = event
  const isOther = event.agentId === null && promptId !== null && promptId !== state.promptId
  const known = isOther ? { ...state, promptId } : state
  const { left } = state
  if (isTyped || (isOther && state.promptId !== null))
    return { ...known, refusals: 0, turnAt: at, left: null, ...(left !== null && { leftEarlier: left }) }
  if (event.kind === 'session_start' && event.source !== 'compact')
    return { ...known, turnAt: at, left: null, unseen: withEarlier(known) }
  if (event.kind !== 'tool_after' || event.call === undefined || !mayOutlive(event.call)) return known
  return { ...known, left: callLabel(event.call) }
}

/** A new session starts with the files as they are, but not without what calls of earlier ones did to them. */
function withEarlier({ unseen, noted = [] }: ProtectionHistory): ProtectionHistory['unseen'] {
  const isOther = (change: UnseenChange): boolean =>
    !unseen.some(({ path, at }) => path === change.path && at === change.at)
  return bounded([...noted.filter(isOther), ...unseen])
}

function withChanges(state: ProtectionHistory, { event, at }: EventEntry): ProtectionHistory {
  const found = event.facts.protected
  if (found == null) return state
  const own = event.kind === 'tool_after' && event.call !== undefined ? [callLabel(event.call)] : []
  const by = [...own, ...found.others].join('`, or `') || null
  const left = by === null ? state.left : null
  const { leftEarlier } = state
  const earlier = by === null && left === null && leftEarlier !== undefined && { leftEarlier }
  const changes = found.changes.map((change): UnseenChange => ({ ...change, at, by, left, ...earlier }))
  return { ...state, isWatched: true, unseen: bounded([...state.unseen, ...changes]) }
}

/** However many changes follow, the first ones that a call made stay, and so does the newest of each kind. */
function bounded(all: readonly UnseenChange[]): readonly UnseenChange[] {
  if (all.length <= maxUnseen) return all
  const few = maxUnseen / 4
  const made = all.filter(({ by }) => by !== null)
  const left = all.filter(({ by, left }) => by === null && left !== null)
  const kept = new Set([made.slice(0, few), made.slice(-few), left.slice(-few), all.slice(-few)].flat())
  return all.filter((change) => kept.has(change))
}

/** What the event found that calls have changed. */
export function newlyMade({
  history,
  facts,
}: {
  readonly history: { readonly protection: ProtectionHistory }
  readonly facts: Pick<Facts, 'protected'>
}): readonly UnseenChange[] {
  const count = facts.protected?.changes.length ?? 0
  return count === 0 ? [] : history.protection.unseen.slice(-count).filter(({ by }) => by !== null)
}

function afterNote(state: ProtectionHistory, note: Note, { at }: LedgerEntry): ProtectionHistory {
  switch (note.kind) {
    case 'changes_made':
      return { ...state, noted: bounded([...(state.noted ?? []), ...note.changes]) }
    case 'changes_seen': {
      const isLater = (change: UnseenChange): boolean => change.at > at
      const { noted = [], unseen } = state
      return { ...state, refusals: 0, unseen: unseen.filter(isLater), noted: noted.filter(isLater) }
    }
    case 'changes_refused':
      return { ...state, refusals: state.refusals + 1 }
    case 'changes_reported':
      return { ...state, unseen: state.unseen.filter(({ by }) => by !== null) }
    default:
      return state
  }
}

/** One line for messages: the command or the path. */
export function callLabel({ command, paths, tool }: Pick<StoredCall, 'command' | 'paths' | 'tool'>): string {
  return printable((command ?? paths[0] ?? tool).replaceAll(/\s+/g, ' ').trim(), maxLabelChars)
}

/** Whether a process of this call may still run after it. */
function mayOutlive({ command, input }: StoredCall): boolean {
  const background = typeof input === 'object' && input !== null && 'run_in_background' in input
  return (
    (background && input.run_in_background === true) ||
    (command !== undefined &&
      /(?<![&<>|])&(?![&>])|\b(?:nohup|setsid|disown|coproc|tmux|screen|systemd-run|crontab|daemonize|start-stop-daemon)\b|(?:^|[;&|(])\s*(?:at|batch)\s/.test(
        command,
      ))
  )
}
