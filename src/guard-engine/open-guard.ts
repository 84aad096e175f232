import { join } from 'node:path'
import type { Decision } from '../core/decision.ts'
import { GantryError } from '../core/error.ts'
import type { HookEvent, HookTraits } from '../core/hook-event.ts'
import { version } from '../core/version.ts'
import { monotonicMs } from '../io/clock.ts'
import { homeDirectory } from '../io/host.ts'
import { quickId } from '../io/quick-random.ts'
import type { Rule, Scene } from '../rules/contract.ts'
import type { World } from '../shell/world.ts'
import type { DecisionEntry, EventEntry, History } from './contract.ts'
import { answerTooLate, answerWithoutSettings, boundedAnswer, decide, silent, wantedFacts } from './decide.ts'
import { gatherFacts, type HookCheck, noFacts, storedFacts } from './facts/gather-facts.ts'
import { historyFold } from './history/index.ts'
import { newlyMade } from './history/protection.ts'
import { findRoot } from './ledger/ledger-place.ts'
import { appendNote, type GuardLedger, healthNotice, openLedger } from './ledger/open-ledger.ts'
import { keepEnvironment } from './ledger/recorded-environment.ts'
import { openWorld } from './open-world.ts'
import { type GuardLocation, guardedPaths, realGuardedPaths } from './seal/guarded-paths.ts'
import { firstSeal } from './seal/seal-files.ts'
import { type ReadSettings, readSettings } from './settings/read-settings.ts'
import type { Settings } from './settings/settings.ts'
import { eventRedactor, isEditing, storeEvent } from './store-event.ts'
import { isOwnTrace, stateDirectory, viewFiles, viewsProblem } from './views/state-directory.ts'
import { appendTrace, traceRecord } from './views/trace-log.ts'
import { writeViews } from './views/write-views.ts'

export interface GuardOptions {
  readonly guardHome: string
  /** Environment of the hook process, set by the agent. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly rules: readonly Rule[]
  readonly home?: string
  /** Files that control an agent's hooks, from its installers. The guard's own files are known. */
  readonly own?: readonly string[]
  /** The program that the hooks start, if known. */
  readonly hookBin?: string | null
  /** Where that program keeps the bundles built from its sources. */
  readonly bundles?: string
  /** Checks the installed hooks and puts them back; absent where the guard runs without hooks. */
  readonly checkHooks?: HookCheck
  /** Edition of the running code. A history folded by another edition is folded again. */
  readonly edition?: string
  /** Given by a process that answers many events. */
  readonly resident?: GuardMemory
}

export interface GuardMemory {
  /** Ledgers that no event uses at the moment, by project and session. */
  readonly ledgers: Map<string, GuardLedger>
  /** Does the work after the answer was sent, and before the next event. */
  later(work: () => void): void
  /** Hook programs that were replaced and put back, until the user has been told. */
  readonly replaced?: string[]
}

export interface HandleOptions {
  /** Traits of the calling agent, from its codec. */
  readonly traits?: HookTraits
  /** Decides without writing anything. */
  readonly dry?: boolean
  readonly nowMs?: number
  /** The same event with the same id counts once and gets the same decision. */
  readonly eventId?: string
  /** Resolves when no time is left. Then the event is recorded with the facts known so far, and `handle` fails: nothing is allowed. */
  readonly late?: Promise<'late'>
}

/** Decides on hook events, one after the other or in many processes at once. */
export interface Guard {
  handle(event: HookEvent, options?: HandleOptions): Promise<Decision>
}

export function openGuard(options: GuardOptions): Guard {
  return { handle: (event, how = {}) => handle(options, event, how) }
}

async function handle(options: GuardOptions, came: HookEvent, how: HandleOptions): Promise<Decision> {
  const { guardHome, env, rules, checkHooks, edition = version, resident } = options
  const { traits = {}, dry = false, nowMs = Date.now(), eventId = `e_${quickId(16)}`, late } = how
  const root = findRoot(came.root)
  const event: HookEvent = { ...came, root }
  if (event.kind === 'other') return { id: 'd_0000000000000000', ...silent }

  const ledgerName = `${guardHome}\n${root}\n${event.session}`
  const known = resident?.ledgers.get(ledgerName)
  resident?.ledgers.delete(ledgerName)
  const ledger =
    known?.isCurrent() === true ? known : openLedger({ guardHome, root, session: event.session, edition })
  ledger.advance()
  const earlier = ledger.decisionOn(eventId)
  if (earlier !== null) return decisionOf(earlier)

  const { gate, session } = ledger.history
  const startedMs = event.kind === 'session_start' ? Infinity : Date.parse(session.startedAt ?? '')
  const seal = gate.sealed === null ? null : { files: gate.sealed, texts: gate.sealedTexts ?? {}, startedMs }
  const read = await readSettings({ root, env, userDir: guardHome, ...(seal !== null && { seal }) })
  const { settings } = read
  const place = placeOf(options, root, settings.state.dir)
  const world = worldOf(place)
  const scene = { event, traits, history: ledger.history, settings, world, nowMs }
  const wanted = read.kind === 'broken' ? new Set<never>() : wantedFacts(rules, scene)
  const facts = { ...noFacts }
  let isLate = false
  const gathering = gatherFacts(facts, {
    ...scene,
    wanted,
    isLate: () => isLate,
    isTampered: ledger.health.tampered > 0,
    root,
    env,
    guardHome,
    home: place.home,
    own: () => world.own,
    dry,
    trees: join(ledger.place.directory, 'trees'),
    later: resident?.later ?? ((work) => work()),
    ...(checkHooks !== undefined && !dry && { checkHooks }),
  })
  isLate = (await (late === undefined ? gathering : Promise.race([gathering, late]))) === 'late'
  const entry: EventEntry = {
    kind: 'event',
    id: eventId,
    at: new Date(nowMs).toISOString(),
    event: storeEvent(event, storedFacts(facts), eventRedactor(env)),
  }
  // Another process may have answered meanwhile, because this one was given up.
  if (!dry && ledger.hasGrown()) {
    ledger.advance()
    const other = ledger.decisionOn(eventId)
    if (other !== null) return decisionOf(other)
  }
  const history = dry ? historyFold.apply(ledger.history, entry) : appendAndRead(ledger, entry)
  const decision = judge(rules, { ...scene, history, facts }, isLate ? 'late' : read, entry)
  if (dry) return decisionOf(decision)

  ledger.append(decision)
  if (isLate) {
    showEvent({ root, settings, ledger, entry, decision })
    throw new GantryError('INTERRUPTED', 'the guard did not answer in time', {
      hint: 'The event is recorded, but no rule has judged it.',
    })
  }
  if (event.kind === 'session_start') {
    keepEnvironment(guardHome, root, env, nowMs)
    const note = await firstSeal(event, history, place)
    if (note !== null) appendNote({ guardHome, root, note, nowMs })
  }
  const changes = newlyMade({ history, facts })
  if (changes.length > 0) appendNote({ guardHome, root, note: { kind: 'changes_made', changes }, nowMs })
  if (event.kind === 'session_end' && history.protection.unseen.length === 0) {
    const { forgetProtected } = await import('./protection/watch-protected.ts')
    forgetProtected({ guardHome, root, session: event.session })
  }
  if (event.kind === 'session_end') (await import('./ledger/tidy-home.ts')).tidyHome(guardHome, nowMs)
  let problem: string | null = null
  const finish = (): void => {
    problem = showEvent({ root, settings, ledger, entry, decision })
    ledger.keep()
    if (resident === undefined) return
    resident.ledgers.set(ledgerName, ledger)
    const [oldest = ''] = resident.ledgers.keys()
    if (resident.ledgers.size > maxLedgers) resident.ledgers.delete(oldest)
  }
  // A problem of the views is part of the answer where the user is likely to read it.
  if (resident === undefined || isTurnEnd(event)) finish()
  else resident.later(finish)
  const replaced = isTurnEnd(event) ? (resident?.replaced?.splice(0) ?? []) : []
  const notices = [problem, healthNotice(ledger.health), replacedNotice(replaced)]
  return withNotices(decisionOf(decision), event, notices)
}

const maxLedgers = 8

/** The history up to and including the event. The ledger decides its order among the events of other processes. */
function appendAndRead(ledger: GuardLedger, entry: EventEntry): History {
  // A helper that was given up may have written the entry already. Then that line counts.
  if (ledger.has(entry.id)) return ledger.history
  for (let tries = 0; tries < 2; tries += 1) {
    ledger.append(entry)
    if (ledger.advance(entry.id)) return ledger.history
  }
  throw new Error(`the event ${entry.id} is not in the ledger after it was written there`)
}

function judge(
  rules: readonly Rule[],
  scene: Scene,
  read: ReadSettings | 'late',
  entry: EventEntry,
): DecisionEntry {
  const id = `d_${quickId(16)}`
  const startedAt = monotonicMs()
  const decided =
    read === 'late'
      ? answerTooLate(scene.event)
      : read.kind === 'broken'
        ? answerWithoutSettings(scene.event, read.problem)
        : decide(rules, scene)
  const engineMs = Math.round((monotonicMs() - startedAt) * 1000) / 1000
  return { kind: 'decision', id, at: entry.at, of: entry.id, ...boundedAnswer(decided, id), engineMs }
}

function placeOf(options: GuardOptions, root: string, stateDir: string): GuardLocation {
  const { env, guardHome, hookBin = null, bundles, own: agentFiles = [] } = options
  const home = options.home ?? homeDirectory(env)
  const pluginDir = env.CLAUDE_PLUGIN_ROOT || null
  const place = { root, home, env, guardHome, hookBin, pluginDir, agentFiles, stateDir }
  return bundles === undefined ? place : { ...place, bundles }
}

/** The guard's own files are determined when a rule first needs them, because that reads each of them. */
function worldOf(place: GuardLocation): World {
  const { root, home, env } = place
  const world = openWorld({ root, home, env, own: [] })
  let own: readonly string[] | undefined
  return {
    ...world,
    get own() {
      own ??= realGuardedPaths(guardedPaths(place), (path) => world.resolve(path))
      return own
    },
  }
}

/** Reported when the user is likely to read it: at the start and at the end of a turn. */
function withNotices(decision: Decision, event: HookEvent, notices: readonly (string | null)[]): Decision {
  const found = notices.filter((notice) => notice !== null)
  if (found.length === 0 || !isTurnEnd(event)) return decision
  const all = decision.notice === null ? found : [decision.notice, ...found]
  return { ...decision, notice: all.join('\n\n') }
}

function replacedNotice(paths: readonly string[]): string | null {
  if (paths.length === 0) return null
  return `Gantry guard: the hook program was replaced while an agent worked, and put back: ${paths.join(', ')}. Until then, up to a second, calls were not judged. Look at what the agent ran: \`gantry guard trace --session latest\`.`
}

function isTurnEnd({ kind }: HookEvent): boolean {
  return kind === 'session_start' || kind === 'stop'
}

function decisionOf({ id, verdict, reason, context, notice, findings }: DecisionEntry): Decision {
  return { id, verdict, reason, context, notice, findings }
}

interface ShownEvent {
  readonly root: string
  readonly settings: Settings
  readonly ledger: GuardLedger
  readonly entry: EventEntry
  readonly decision: DecisionEntry
}

/**
 * Updates the views for people. They decide nothing, so a project that cannot be written must not block the agent: a problem is returned as
 * a sentence, null when there is none.
 */
function showEvent(shown: ShownEvent): string | null {
  const { root, settings, ledger, entry } = shown
  const isStart = entry.event.kind === 'session_start'
  try {
    // Checked before writing, and reported once a session, because it stays until a person fixes it.
    const problem = isStart ? viewsProblem(root, settings.state.dir) : null
    const where = stateDirectory(root, settings.state.dir)
    if (where.kind === 'refused') ledger.advance()
    else writeAll(where.path, shown)
    return problem
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    // The ledger must be read to its end even if the views fail.
    ledger.advance()
    return `The views of the guard are not up to date: ${error.message}.`
  }
}

function writeAll(directory: string, { settings, ledger, entry, decision }: ShownEvent): void {
  const { event } = entry
  // A call that is about to start does not change them.
  if (event.kind === 'tool_before' && decision.notes.length === 0) ledger.advance()
  else writeViews({ directory, ledger, settings, mayCount: mayCount(entry) })
  const record = traceRecord(entry, decision, settings.traceLogging)
  if (record === null || isOwnTrace(join(directory, viewFiles.trace)) === false) return
  appendTrace({ dir: directory, record, maxLogSizeMb: settings.traceLogging.maxLogSizeMb })
}

/** An edit, a read of the plan, or an event at which a user may look. Most calls are neither. */
function mayCount({ event }: EventEntry): boolean {
  if (event.kind !== 'tool_after' && event.kind !== 'tool_before') return true
  const isEdit = event.kind === 'tool_after' && event.call !== undefined && isEditing(event.call.action)
  return isEdit || event.facts.project !== undefined
}
