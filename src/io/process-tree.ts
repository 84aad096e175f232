import { setTimeout as sleep } from 'node:timers/promises'
import { errnoOf } from './fs-error.ts'
import {
  environmentOf,
  hasProcess,
  lastPid,
  listPids,
  ownStartTicks,
  type ProcessEntry,
  pidLimit,
  readProcess,
} from './process-table.ts'

/** A process that leads a session of its own, and everything that came from it. */
export interface ProcessTree {
  /** The root's pid, which is also the id of its group and session. */
  readonly rootPid: number
  /** Unique text in the root's environment. What the root starts inherits it, even across `setsid` and a dead parent. */
  readonly marker: string
  /** No member was started before. */
  readonly earliestTicks: number
  /** Members seen before, by pid: one that cleared its environment and lost its parent is known only from earlier. */
  readonly known: Map<number, number>
  /** Processes that the last look showed to be dead or of others: that they vanish now is of no interest. */
  settled: ReadonlySet<number>
  /** Set once the root's session was seen empty: from then on its number may belong to strangers. */
  sessionIsGone: boolean
}

/** `bornAfterSecs`: our own `process.uptime()` from before the root was started. */
export function processTree(rootPid: number, marker: string, bornAfterSecs: number): ProcessTree {
  liveRoots.add(rootPid)
  const earliestTicks = ownStartTicks() === 0 ? 0 : ownStartTicks() + bornAfterSecs * 100 - slackTicks
  const tree: ProcessTree = {
    rootPid,
    marker,
    earliestTicks,
    known: new Map(),
    settled: new Set(),
    sessionIsGone: false,
  }
  if (liveTrees.size === 0) process.on('exit', killLiveTrees)
  liveTrees.add(tree)
  return tree
}

/** Call when nothing of the tree is left, or nothing that can be ended. */
export function treeIsGone(tree: ProcessTree): void {
  liveTrees.delete(tree)
  if (liveTrees.size === 0) process.off('exit', killLiveTrees)
}

/** Call when the root's exit was collected, so that its pid may be reused. */
export function rootIsGone({ rootPid }: ProcessTree): void {
  liveRoots.delete(rootPid)
}

/**
 * Ends every member: SIGTERM and up to `graceMs` to go, then SIGKILL until none is left. Answers with the pids that could not be
 * ended (another user's, or stuck in the kernel), normally none.
 *
 * Beyond reach is a process that cleared its environment, made a session of its own and lost its parent before we looked.
 */
export async function endTree(tree: ProcessTree, graceMs: number): Promise<readonly number[]> {
  if (graceMs > 0 && (await endsSoftly(tree, graceMs))) return []
  const start = performance.now()
  const isOver = overWatch()
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 50)) {
    const seen = killAll(tree)
    if (isOver(seen)) return []
    if (performance.now() - start > hardWaitMs) return seen.members.map(({ pid }) => pid)
    await sleep(seen.members.length > 0 ? waitMs : doubtWaitMs)
  }
}

/** Whether anything may have outlived the root. Cheap when, as nearly always, nothing did. `ageMs`: how long the root ran. */
export function hasLeftovers(tree: ProcessTree, ageMs: number): boolean {
  let from = tree.rootPid
  for (let round = 0; round < probeRoundsMax; round++) {
    const last = lastPid()
    if (last === from) return false
    // No machine starts a hundred processes in a millisecond, so a young root's descendants lie between its pid and the last one.
    if (last === null || ageMs * 100 > pidLimit()) break
    if (pidsBetween(from, last).some((pid) => !liveRoots.has(pid) && mayBelong(pid, tree))) return true
    from = last
  }
  return !overWatch()(survey(tree))
}

/** What one look at the process table showed. */
interface Survey {
  /** Everything alive that belongs to the tree. */
  readonly members: readonly ProcessEntry[]
  /** A process was gone as it was looked at: it may have left a child that was not listed yet. */
  readonly hasVanished: boolean
  /** A process showed no environment: it cleared it, or is in the middle of an exec. */
  readonly hasHidden: boolean
}

/** Every tree that may still have members. A process that exits in the middle takes them with it. */
const liveTrees = new Set<ProcessTree>()

function killLiveTrees(): void {
  for (const tree of liveTrees) killAll(tree)
}

/** Processes that start roots. What one of them started is the root of a tree of its own, known to us or about to be. */
const starters = new Set<number>([process.pid])

export function addStarter(pid: number): void {
  starters.add(pid)
}

/** Roots that run now: never the leftovers of one another. */
const liveRoots = new Set<number>()
/** Our own start is known to the tick, the time since only roughly. */
const slackTicks = 20
const hardPassesMax = 200
const hardWaitMs = 5000
/** How many looks in a row must find no process, when each look left a doubt. */
const looksAfterVanished = 10
const looksAfterHidden = 50
const doubtWaitMs = 2
const probeRoundsMax = 10
/** Up to here asking for single pids is cheaper than listing them all. */
const probesMax = 32

/** With `strikes` every member is killed as soon as it is recognised, and what the look before has settled is not looked at again. */
function survey(tree: ProcessTree, strikes = false): Survey {
  const pids = listPids()
  if (pids === null) return surveyGroup(tree)
  const ownSession = readProcess(process.pid)?.sessionId
  const found = new Map<number, ProcessEntry>()
  const sessions = new Set<number>()
  const strangers = new Set<ProcessEntry>()
  const settled = new Set<number>(strikes ? tree.settled : [])
  let hasVanished = false
  let sessionIsEmpty = true
  const take = (entry: ProcessEntry): void => {
    if (strikes) signalGroup(entry.groupId, 'SIGKILL')
    found.set(entry.pid, entry)
    sessions.add(entry.sessionId)
    strangers.delete(entry)
    tree.known.set(entry.pid, entry.startTicks)
  }
  for (const pid of pids) {
    if (settled.has(pid)) continue
    const entry = readProcess(pid)
    if (entry?.sessionId === tree.rootPid) sessionIsEmpty = false
    if (entry === null || isFreshlyDead(entry, tree)) hasVanished ||= !tree.settled.has(pid)
    if (entry !== null && !(mayBeMember(entry, tree) && entry.sessionId !== ownSession)) settled.add(pid)
    if (entry === null || settled.has(pid)) continue
    strangers.add(entry)
    if (tree.known.get(pid) === entry.startTicks) {
      take(entry)
      continue
    }
    const environment = environmentOf(pid)
    if (environment?.includes(tree.marker)) take(entry)
    else if (environment === null) hasVanished ||= !hasProcess(pid)
    else if (environment !== '') settled.add(pid)
  }
  tree.settled = settled
  tree.sessionIsGone ||= sessionIsEmpty
  if (!tree.sessionIsGone) sessions.add(tree.rootPid)
  // A session only ever holds descendants of the process that made it, so one member makes a whole session ours.
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const entry of strangers)
      if (sessions.has(entry.sessionId) || found.has(entry.parentPid)) take(entry)
  }
  const hasHidden = [...strangers].some(({ pid }) => !settled.has(pid))
  return { members: [...found.values()], hasVanished, hasHidden }
}

/** Without a process table only the root's own group can be reached. */
function surveyGroup({ rootPid }: ProcessTree): Survey {
  const root = {
    pid: rootPid,
    parentPid: 0,
    groupId: rootPid,
    sessionId: rootPid,
    startTicks: 0,
    runsProgram: true,
  }
  return { members: signalGroup(rootPid, 0) ? [root] : [], hasVanished: false, hasHidden: false }
}

/** Decides from one look after another when no process is left. On a busy machine no look is without doubt, so doubt has its limits. */
function overWatch(): (seen: Survey) => boolean {
  let emptyLooks = 0
  return ({ members, hasVanished, hasHidden }) => {
    emptyLooks = members.length > 0 ? 0 : emptyLooks + 1
    return emptyLooks >= (hasHidden ? looksAfterHidden : hasVanished ? looksAfterVanished : 1)
  }
}

async function endsSoftly(tree: ProcessTree, graceMs: number): Promise<boolean> {
  const deadline = performance.now() + graceMs
  const isOver = overWatch()
  signalAll(survey(tree), 'SIGTERM')
  let waitMs = 5
  for (;;) {
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) return false
    await sleep(Math.min(waitMs, leftMs))
    const seen = survey(tree)
    if (isOver(seen)) return true
    waitMs = seen.members.length > 0 ? Math.min(waitMs * 2, 50) : doubtWaitMs
  }
}

/** Kills without a pause as long as new members turn up: what forks for ever must not get time between the passes. */
function killAll(tree: ProcessTree): Survey {
  // All processes are read first, since a dead one no longer shows whose parent it was.
  let seen = survey(tree)
  signalAll(seen, 'SIGKILL')
  const hit = new Set<number>()
  for (let pass = 0; pass < hardPassesMax && seen.members.some(({ pid }) => !hit.has(pid)); pass++) {
    for (const { pid } of seen.members) hit.add(pid)
    seen = survey(tree, true)
  }
  return seen
}

/** One signal per group: the system sends it to the whole group at once, so that no fork slips through. */
function signalAll({ members }: Survey, signal: NodeJS.Signals): void {
  for (const groupId of new Set(members.map((member) => member.groupId))) signalGroup(groupId, signal)
}

/** The pids in use that were given out after `first`, up to `last`. They are given out in order and begin anew at the limit. */
function pidsBetween(first: number, last: number): number[] {
  const count = last - first
  if (count > 0 && count <= probesMax)
    return Array.from({ length: count }, (_, index) => first + 1 + index).filter(hasProcess)
  return (listPids() ?? []).filter((pid) =>
    count > 0 ? pid > first && pid <= last : pid > first || pid <= last,
  )
}

function mayBelong(pid: number, tree: ProcessTree): boolean {
  const entry = readProcess(pid)
  if (entry === null || !mayBeMember(entry, tree)) return false
  if (entry.sessionId === tree.rootPid) return true
  const environment = environmentOf(pid)
  return environment === '' || environment?.includes(tree.marker) === true
}

function mayBeMember(entry: ProcessEntry, { earliestTicks, rootPid }: ProcessTree): boolean {
  if (starters.has(entry.parentPid) && entry.pid !== rootPid) return false
  return entry.pid > 1 && !starters.has(entry.pid) && entry.runsProgram && entry.startTicks >= earliestTicks
}

/** It may have died after the pids were listed, and have left a child that was not. */
function isFreshlyDead({ runsProgram, startTicks }: ProcessEntry, { earliestTicks }: ProcessTree): boolean {
  return !runsProgram && startTicks >= earliestTicks
}

/** False when there is no such group. A group of another user's processes is there, though out of reach. */
function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  if (groupId <= 1) return false
  try {
    process.kill(-groupId, signal)
    return true
  } catch (cause) {
    return errnoOf(cause) === 'EPERM'
  }
}
