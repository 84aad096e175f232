import type { Decision } from '../core/decision.ts'
import type { HookEvent, HookTraits } from '../core/hook-event.ts'
import { version } from '../core/version.ts'
import { monotonicMs } from '../io/clock.ts'
import { homeDirectory } from '../io/host.ts'
import { quickId } from '../io/quick-random.ts'
import type { Rule, Scene } from '../rules/contract.ts'
import type { World } from '../shell/world.ts'
import type { DecisionEntry, EventEntry, History } from './contract.ts'
import { answerWithoutSettings, boundedAnswer, decide, wantedFacts } from './decide.ts'
import { gatherFacts, toldFacts } from './facts/gather-facts.ts'
import { historyFold } from './history/index.ts'
import { findRoot } from './ledger/ledger-place.ts'
import { appendNote, type GuardLedger, healthNotice, openLedger } from './ledger/open-ledger.ts'
import { keepEnvironment } from './ledger/recorded-environment.ts'
import { openWorld } from './open-world.ts'
import { type OwnPlace, ownPaths, realOwnPaths } from './seal/own-paths.ts'
import { firstSeal } from './seal/seal-files.ts'
import { type ReadSettings, readSettings } from './settings/read-settings.ts'
import { eventRedactor, storeEvent } from './store-event.ts'
import { showEvent } from './views/show-event.ts'

export interface GuardOptions {
  readonly guardHome: string
  /** Of the hook's process: what the agent started it with. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly rules: readonly Rule[]
  readonly home?: string
  /** Files that steer an agent's hooks, as its installers name them; the guard's own are known. */
  readonly own?: readonly string[]
  /** The program the hooks start, when it is known. */
  readonly hookBin?: string | null
  /** Where that program keeps what it makes of itself. */
  readonly bundles?: string
  /** Of the running code: a history that another one folded is folded anew. */
  readonly edition?: string
}

export interface HandleOptions {
  /** Of the agent that called, from its codec. */
  readonly traits?: HookTraits
  /** Decides and leaves no trace. */
  readonly dry?: boolean
  readonly nowMs?: number
  /** The same event under the same id counts once, and gets the same decision. */
  readonly eventId?: string
}

/** Decides on hook events, one after the other or many at once in as many processes. */
export interface Guard {
  handle(event: HookEvent, options?: HandleOptions): Promise<Decision>
}

export function openGuard(options: GuardOptions): Guard {
  return { handle: (event, how = {}) => handle(options, event, how) }
}

async function handle(options: GuardOptions, came: HookEvent, how: HandleOptions): Promise<Decision> {
  const { guardHome, env, rules, edition = version } = options
  const { traits = {}, dry = false, nowMs = Date.now(), eventId = `e_${quickId(16)}` } = how
  const root = findRoot(came.root)
  const event: HookEvent = { ...came, root }
  if (event.kind === 'other') return nothingToSay

  const read = await readSettings({ root, env, userDir: guardHome })
  const { settings } = read
  const ledger = openLedger({ guardHome, root, session: event.session, edition })
  ledger.advance()
  const earlier = ledger.decisionOn(eventId)
  if (earlier !== null) return decisionOf(earlier)

  const place = placeOf(options, root, settings.state.dir)
  const world = worldOf(place)
  const scene = { event, traits, history: ledger.history, settings, world, nowMs }
  const wanted = read.kind === 'broken' ? new Set<never>() : wantedFacts(rules, scene)
  const facts = await gatherFacts({ ...scene, wanted, root, env })
  const entry: EventEntry = {
    kind: 'event',
    id: eventId,
    at: new Date(nowMs).toISOString(),
    event: storeEvent(event, toldFacts(facts), eventRedactor(env)),
  }
  const history = dry ? historyFold.apply(ledger.history, entry) : appendAndRead(ledger, entry)
  const decision = judge(rules, { ...scene, history, facts }, read, entry)
  if (dry) return decisionOf(decision)

  ledger.append(decision)
  if (event.kind === 'session_start') {
    keepEnvironment(guardHome, root, env, nowMs)
    const note = await firstSeal(event, history, place)
    if (note !== null) appendNote({ guardHome, root, note, nowMs })
  }
  const problem = showEvent({ root, settings, ledger, entry, decision })
  ledger.keep()
  return withNotices(decisionOf(decision), event, [problem, healthNotice(ledger.health)])
}

/** The history up to and including the event: where it stands among those of other processes is the ledger's to say. */
function appendAndRead(ledger: GuardLedger, entry: EventEntry): History {
  // A helper that was given up may have come this far; then its line is the one that counts.
  if (ledger.has(entry.id)) return ledger.history
  for (let tries = 0; tries < 2; tries += 1) {
    ledger.append(entry)
    if (ledger.advance(entry.id)) return ledger.history
  }
  throw new Error(`the event ${entry.id} is not in the ledger after it was written there`)
}

function judge(rules: readonly Rule[], scene: Scene, read: ReadSettings, entry: EventEntry): DecisionEntry {
  const id = `d_${quickId(16)}`
  const startedAt = monotonicMs()
  const decided =
    read.kind === 'broken' ? answerWithoutSettings(scene.event, read.problem) : decide(rules, scene)
  const engineMs = Math.round((monotonicMs() - startedAt) * 1000) / 1000
  return { kind: 'decision', id, at: entry.at, of: entry.id, ...boundedAnswer(decided, id), engineMs }
}

function placeOf(options: GuardOptions, root: string, stateDir: string): OwnPlace {
  const { env, guardHome, hookBin = null, bundles, own: agentFiles = [] } = options
  const home = options.home ?? homeDirectory(env)
  const pluginDir = env.CLAUDE_PLUGIN_ROOT || null
  const place = { root, home, env, guardHome, hookBin, pluginDir, agentFiles, stateDir }
  return bundles === undefined ? place : { ...place, bundles }
}

/** Which files are the guard's own is worked out when a rule first asks: it takes a look at every one of them. */
function worldOf(place: OwnPlace): World {
  const { root, home, env } = place
  const world = openWorld({ root, home, env, own: [] })
  let own: readonly string[] | undefined
  return {
    ...world,
    get own() {
      own ??= realOwnPaths(ownPaths(place), (path) => world.resolve(path))
      return own
    },
  }
}

/** Told when somebody looks: at the start and at the end of a turn. */
function withNotices(decision: Decision, event: HookEvent, notices: readonly (string | null)[]): Decision {
  const found = notices.filter((notice) => notice !== null)
  if (found.length === 0 || (event.kind !== 'session_start' && event.kind !== 'stop')) return decision
  const all = decision.notice === null ? found : [decision.notice, ...found]
  return { ...decision, notice: all.join('\n\n') }
}

function decisionOf({ id, verdict, reason, context, notice, findings }: DecisionEntry): Decision {
  return { id, verdict, reason, context, notice, findings }
}

const nothingToSay: Decision = {
  id: 'd_0000000000000000',
  verdict: 'pass',
  reason: null,
  context: null,
  notice: null,
  findings: [],
}
