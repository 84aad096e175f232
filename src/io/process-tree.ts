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

/** A session leader and all its descendants. */
export interface ProcessTree {
  /** The root's pid, which is also the id of its group and session. */
  readonly rootPid: number
  /** Unique text in the root's environment. What the root starts inherits it, even across `setsid` and a dead parent. */
  readonly marker: string
  /** No member was started before. */
  readonly earliestTicks: number
  /** Members seen before, by pid. A process that cleared its environment and lost its parent is only known from here. */
  readonly known: Map<number, number>
  /** Processes that the last scan found dead or foreign. They can be ignored. */
  settled: ReadonlySet<number>
  /** Set once the root's session was empty. Its number may be reused from then on. */
  sessionIsGone: boolean
}

/** `bornAfterSecs`: this process's `process.uptime()` before the root was started. */
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

/** Call when no member is left, or none that can be ended. */
export function treeIsGone(tree: ProcessTree): void {
  liveTrees.delete(tree)
  if (liveTrees.size === 0) process.off('exit', killLiveTrees)
}

/** Call when the root's exit was collected, so that its pid may be reused. */
export function rootIsGone({ rootPid }: ProcessTree): void {
  liveRoots.delete(rootPid)
}

/**
 * Ends every member: SIGTERM, up to `graceMs` later SIGKILL until none is left. Returns the pids that could not be ended (another
 * user's, or stuck in the kernel), normally none.
 *
 * Cannot find a process that cleared its environment, created a new session and lost its parent before the first scan.
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

/** Whether any process may have outlived the root. Cheap in the usual case that none did. `ageMs`: how long the root ran. */
export function hasLeftovers(tree: ProcessTree, ageMs: number): boolean {
  let from = tree.rootPid
  for (let round = 0; round < probeRoundsMax; round++) {
    const last = lastPid()
    if (last === from) return false
    // No machine starts a hundred processes in a millisecond, so a young root's descendants are between its pid and the last one.
    if (last === null || ageMs * 100 > pidLimit()) break
    if (pidsBetween(from, last).some((pid) => !liveRoots.has(pid) && mayBelong(pid, tree))) return true
    from = last
  }
  return !overWatch()(survey(tree))
}

interface Survey {
  readonly members: readonly ProcessEntry[]
  /** A process vanished during the scan. It may have left a child that was not listed yet. */
  readonly hasVanished: boolean
  /** A process had no environment: it cleared it, or is inside an exec. */
  readonly hasHidden: boolean
}

/** Every tree that may still have members. They are killed when this process exits. */
const liveTrees = new Set<ProcessTree>()

function killLiveTrees(): void {
  for (const tree of liveTrees) killAll(tree)
}

/** Processes that start roots. Their children are roots of separate trees. */
const starters = new Set<number>([process.pid])

export function addStarter(pid: number): void {
  starters.add(pid)
}

/** Running roots, which are never leftovers of each other. */
const liveRoots = new Set<number>()
/** The start of this process is known to the tick, the time since only roughly. */
const slackTicks = 20
const hardPassesMax = 200
const hardWaitMs = 5000
/** How many consecutive uncertain scans must find no process. */
const looksAfterVanished = 10
const looksAfterHidden = 50
const doubtWaitMs = 2
const probeRoundsMax = 10
/** Up to this number, reading single pids is cheaper than listing all. */
const probesMax = 32

/** With `strikes`, kills every member as soon as it is found and skips processes settled by the previous scan. */
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
  // A session contains only descendants of its creator, so one member makes the whole session part of the tree.
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

/** Decides from consecutive scans when no process is left. On a busy machine every scan is uncertain, so uncertainty is limited. */
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

/** Kills without a pause while new members appear, so a process that keeps forking gets no time between passes. */
function killAll(tree: ProcessTree): Survey {
  // Read all processes first, because a dead one no longer shows its children.
  let seen = survey(tree)
  signalAll(seen, 'SIGKILL')
  const hit = new Set<number>()
  for (let pass = 0; pass < hardPassesMax && seen.members.some(({ pid }) => !hit.has(pid)); pass++) {
    for (const { pid } of seen.members) hit.add(pid)
    seen = survey(tree, true)
  }
  return seen
}

/** One signal per group, which is atomic, so no fork escapes. */
function signalAll({ members }: Survey, signal: NodeJS.Signals): void {
  for (const groupId of new Set(members.map((member) => member.groupId))) signalGroup(groupId, signal)
}

/** The pids in use that were assigned after `first`, up to `last`. They are assigned in order and wrap around at the limit. */
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

/** It may have died after the pids were listed and left an unlisted child. */
function isFreshlyDead({ runsProgram, startTicks }: ProcessEntry, { earliestTicks }: ProcessTree): boolean {
  return !runsProgram && startTicks >= earliestTicks
}

/** False when there is no such group. True for a group of another user. */
function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  if (groupId <= 1) return false
  try {
    process.kill(-groupId, signal)
    return true
  } catch (cause) {
    return errnoOf(cause) === 'EPERM'
  }
}
