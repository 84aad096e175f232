import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { type EvidenceStatus, evidenceStatus } from '../core/evidence.ts'
import type {
  DecisionEntry,
  EventEntry,
  EvidenceSource,
  History,
  LedgerEntry,
} from '../guard-engine/contract.ts'
import { runsOn } from '../guard-engine/history/gate.ts'
import { historyFold } from '../guard-engine/history/index.ts'
import { ledgerPlace } from '../guard-engine/ledger/ledger-place.ts'
import { allLedgerFiles, ledgerFiles, readLedger } from '../guard-engine/ledger/read-ledger.ts'

export interface ExplainRequest {
  readonly guardHome: string
  /** Real path of the project. Only `latest` depends on it. */
  readonly root: string
  /** `d_…`, or `latest`. */
  readonly wanted: string
  /** The file it is in; absent: it is looked for in all. */
  readonly ledger?: string
}

/** One decision and everything it was based on, read from the ledger. */
export interface Explanation {
  readonly ledger: string
  readonly decision: DecisionEntry
  readonly event: EventEntry
  readonly evidence: readonly ExplainedEvidence[]
  readonly facts: readonly ExplainedFact[]
  /** What would change the decision, as sentences. */
  readonly change: readonly string[]
}

export interface ExplainedFact {
  readonly name: string
  readonly value: string
}

/** Throws GantryError NOT_FOUND when no ledger contains the decision. */
export function explain(request: ExplainRequest): Explanation {
  const found = request.wanted === 'latest' ? latest(request) : byId(request)
  const { path, decision, entries } = found
  const event = entries.find(
    (entry): entry is EventEntry => entry.kind === 'event' && entry.id === decision.of,
  )
  if (event === undefined) {
    throw new GantryError('CORRUPT', `the ledger has the decision ${decision.id} but not its event`, {
      hint: `Check ${path}.`,
    })
  }
  const history = historyAt(event, entries, projectNotes(request.guardHome, path))
  // With what the decision itself recorded: the gate runs checks, and a run of the agent becomes evidence.
  const evidence = explainEvidence(event.event.facts.tree ?? null, historyFold.apply(history, decision))
  return {
    ledger: path,
    decision,
    event,
    evidence,
    facts: factsAt(event, history),
    change: whatWouldChange(decision, event, evidence),
  }
}

/** The same, with the runs that were green then and are stale by now, if the decision is one of this project. */
export async function explainNow(
  request: ExplainRequest,
  treeNow: () => Promise<string>,
): Promise<Explanation> {
  const found = explain(request)
  const isHere = found.ledger.startsWith(ledgerPlace(request.guardHome, request.root, '').directory)
  if (!isHere || !found.evidence.some(({ status }) => status === 'green')) return found
  const tree = await treeNow()
  const isStale = (run: ExplainedEvidence): boolean => run.status === 'green' && run.tree !== tree
  return {
    ...found,
    evidence: found.evidence.map((run) => (isStale(run) ? { ...run, isStaleNow: true } : run)),
  }
}

interface Found {
  readonly path: string
  readonly decision: DecisionEntry
  readonly entries: readonly LedgerEntry[]
}

function byId({ guardHome, wanted, ledger }: ExplainRequest): Found {
  for (const path of ledger === undefined ? allLedgerFiles(guardHome) : [ledger]) {
    const { entries } = readLedger(guardHome, path)
    const decision = entries.find((entry): entry is DecisionEntry => isDecision(entry) && entry.id === wanted)
    if (decision !== undefined) return { path, decision, entries }
  }
  throw new GantryError('NOT_FOUND', `no ledger contains the decision '${wanted}'`, {
    hint: "Each reason from the guard ends with a decision id. Use 'latest' for the last decision in this project.",
  })
}

function latest({ guardHome, root }: ExplainRequest): Found {
  let found: Found | null = null
  for (const path of ledgerFiles(guardHome, root)) {
    const { entries } = readLedger(guardHome, path)
    const decisions = entries.filter(isDecision)
    const decision = decisions.findLast(mattered) ?? decisions.at(-1)
    if (decision === undefined) continue
    if (found === null || rank(decision) > rank(found.decision)) found = { path, decision, entries }
  }
  if (found !== null) return found
  throw new GantryError('NOT_FOUND', `the guard has not made a decision in ${root} yet`, {
    hint: "Run 'gantry guard status' to see whether its hooks are installed.",
  })
}

function rank(decision: DecisionEntry): string {
  return `${mattered(decision) ? 1 : 0} ${decision.at}`
}

/** It denied, refused or ended something, did not count a run, or said something to the user. Most decisions only let a call pass. */
function mattered({ verdict, notice, notes, findings }: DecisionEntry): boolean {
  return (
    verdict !== 'pass' ||
    (notice !== null && findings.some(({ rule }) => rule !== 'sum-up')) ||
    notes.some(({ kind }) => kind === 'ended' || kind === 'no_evidence')
  )
}

function isDecision(entry: LedgerEntry): entry is DecisionEntry {
  return entry.kind === 'decision'
}

/** Notes of the project the session belongs to: `<project>/sessions/<session>.jsonl`. */
function projectNotes(guardHome: string, sessionPath: string): readonly LedgerEntry[] {
  const project = sessionPath.replace(/sessions\/[^/]+$/, 'project.jsonl')
  return project === sessionPath ? [] : readLedger(guardHome, project).entries
}

/** The history as the rules saw it: all entries up to the event, including notes that people had added by then. */
function historyAt(
  event: EventEntry,
  session: readonly LedgerEntry[],
  notes: readonly LedgerEntry[],
): History {
  const waiting = [...notes]
  let history = historyFold.initial
  for (const entry of session) {
    while (waiting[0] !== undefined && waiting[0].at <= entry.at) {
      history = historyFold.apply(history, waiting[0])
      waiting.shift()
    }
    history = historyFold.apply(history, entry)
    if (entry.id === event.id) break
  }
  return history
}

function factsAt(
  { event, at }: EventEntry,
  { gate, session, tasks, calls }: History,
): readonly ExplainedFact[] {
  const refusals = gate.refusals[event.agentId ?? 'main'] ?? 0
  const facts: readonly (readonly [string, string | null])[] = [
    ['tree now', event.facts.tree ?? null],
    ['base tree', gate.baseTree],
    ['refusals to stop so far', refusals === 0 ? null : String(refusals)],
    ['last end', gate.lastEnd === null ? null : `${gate.lastEnd.state} at ${gate.lastEnd.at}`],
    [
      'trees waived',
      gate.waived.length === 0 ? null : gate.waived.map((tree) => tree.slice(0, 12)).join(', '),
    ],
    [
      'unlocked until',
      gate.unlockedUntilMs > Date.parse(at) ? new Date(gate.unlockedUntilMs).toISOString() : null,
    ],
    ['seal', event.facts.seal?.map(({ path, what }) => `${path}: ${what}`).join(', ') || null],
    ['task', tasks.current],
    ['open tasks', tasks.plan === null ? null : String(tasks.plan.open.length)],
    ['calls so far', String(calls.total)],
    ['failed calls so far', String(calls.failures)],
    ['session began', session.startedAt],
  ]
  return facts.flatMap(([name, value]) => (value === null ? [] : [{ name, value }]))
}

export interface ExplainedEvidence {
  readonly command: string
  readonly status: EvidenceStatus
  readonly by: EvidenceSource | null
  readonly at: string | null
  /** The tree it ran on. */
  readonly tree: string | null
  /** Why the last run did not count. */
  readonly rejected: string | null
  /** Files changed after it, by the time of the question. */
  readonly isStaleNow?: boolean
}

/** Each declared or recorded command, with its status for a tree. */
export function explainEvidence(
  tree: string | null,
  { evidence, session }: Pick<History, 'evidence' | 'session'>,
): readonly ExplainedEvidence[] {
  const byCommand = runsOn(evidence, tree)
  const commands = new Set([
    ...session.declared.map(({ command }) => command),
    ...Object.keys(byCommand),
    ...Object.keys(evidence.rejected),
  ])
  return [...commands].map((command) => {
    const record = byCommand[command]
    return {
      command,
      // Where no tree was looked at, as before a call, it is how the run ended.
      status:
        record === undefined
          ? 'missing'
          : evidenceStatus([record], { kind: record.kind, treeHash: tree ?? record.treeHash }),
      by: record?.by ?? null,
      at: record?.startedAt ?? null,
      tree: record?.treeHash ?? null,
      rejected: evidence.rejected[command] ?? null,
    }
  })
}

/** What would change the decision, as sentences. Empty when nothing was refused. */
function whatWouldChange(
  { findings, verdict }: DecisionEntry,
  { event }: EventEntry,
  evidence: readonly ExplainedEvidence[],
): readonly string[] {
  const fired = findings.filter((finding) => finding.verdict !== 'pass').map(({ rule }) => rule)
  const advice = fired.flatMap((rule) => adviceOf[rule] ?? [])
  // Waiving the tree does not acknowledge a change of a protected file.
  if (verdict === 'refuse' && fired.every((rule) => rule === 'notice-changes') && advice.length > 0)
    return advice
  if (verdict === 'refuse') return [...advice, ...evidence.flatMap(wantedOf), ...plan(event.facts), waiver]
  if (verdict === 'deny' && advice.length === 0)
    return ['A call without the action named in the reason would pass.']
  return advice
}

const adviceOf: Readonly<Record<string, readonly string[]>> = {
  'protect-itself': [
    'A call that does not change the named file would pass.',
    'A person can allow it for a while: gantry guard unlock.',
  ],
  'protect-files': [
    'A call that does not change the named file would pass.',
    'A person can change file_protection.protected_patterns in harness.json.',
  ],
  'notice-changes': ['A person acknowledges the change: gantry guard seen.'],
  'confine-writes': [
    'A call that writes only inside the boundary would pass.',
    'A person can change boundary in harness.json, or the HARNESS_BOUNDARY_ variables the agent is started with.',
  ],
  settings: ['A person has to fix the settings of the guard.'],
}

const waiver = 'A person can accept these files without evidence: gantry guard waive --reason TEXT.'

function wantedOf({ command, status, rejected }: ExplainedEvidence): readonly string[] {
  const why = rejected === null ? '' : ` The last run did not count: ${rejected}.`
  return {
    green: [],
    missing: [`\`${command}\` would have to run.${why}`],
    stale: [`\`${command}\` would have to run again: files changed since its last run.${why}`],
    red: [`\`${command}\` would have to succeed: its last run failed.${why}`],
    hollow: [`\`${command}\` would have to run tests: its last run executed none.${why}`],
  }[status]
}

function plan({ project }: EventEntry['event']['facts']): readonly string[] {
  const open = project?.plan?.open ?? []
  return open.length === 0
    ? []
    : [`${counted(open.length, 'open task')} of the plan would have to be done. The next one: ${open[0]}.`]
}
