import { GantryError } from '../core/error.ts'
import { type EvidenceStatus, evidenceStatus } from '../core/evidence.ts'
import type {
  DecisionEntry,
  EventEntry,
  EvidenceSource,
  History,
  LedgerEntry,
} from '../guard-engine/contract.ts'
import { historyFold } from '../guard-engine/history/index.ts'
import { allLedgerFiles, ledgerFiles, readLedger } from '../guard-engine/ledger/read-ledger.ts'

export interface ExplainRequest {
  readonly guardHome: string
  /** Real path of the project; only `latest` depends on it. */
  readonly root: string
  /** `d_…`, or `latest`. */
  readonly wanted: string
}

/** One decision and all it rested on, from the ledger alone. */
export interface Explanation {
  readonly ledger: string
  readonly decision: DecisionEntry
  readonly event: EventEntry
  readonly evidence: readonly ExplainedEvidence[]
  readonly facts: readonly ExplainedFact[]
  /** What would make it come out otherwise, as sentences. */
  readonly change: readonly string[]
}

export interface ExplainedFact {
  readonly name: string
  readonly value: string
}

/** Throws GantryError NOT_FOUND when no ledger has it. */
export function explain(request: ExplainRequest): Explanation {
  const found = request.wanted === 'latest' ? latest(request) : byId(request)
  const { path, decision, entries } = found
  const event = entries.find(
    (entry): entry is EventEntry => entry.kind === 'event' && entry.id === decision.of,
  )
  if (event === undefined) {
    throw new GantryError(
      'CORRUPT',
      `the ledger has the decision ${decision.id} but not the event it was about`,
      {
        hint: `Look at ${path}.`,
      },
    )
  }
  const history = historyAt(event, entries, projectNotes(request.guardHome, path))
  const evidence = explainEvidence(event, history)
  return {
    ledger: path,
    decision,
    event,
    evidence,
    facts: factsAt(event, history),
    change: whatWouldChange(decision, event, evidence),
  }
}

interface Found {
  readonly path: string
  readonly decision: DecisionEntry
  readonly entries: readonly LedgerEntry[]
}

function byId({ guardHome, wanted }: ExplainRequest): Found {
  for (const path of allLedgerFiles(guardHome)) {
    const { entries } = readLedger(guardHome, path)
    const decision = entries.find((entry): entry is DecisionEntry => isDecision(entry) && entry.id === wanted)
    if (decision !== undefined) return { path, decision, entries }
  }
  throw new GantryError('NOT_FOUND', `no ledger has a decision '${wanted}'`, {
    hint: "A reason the guard gives ends with its decision's id; 'latest' is the last one in this project.",
  })
}

function latest({ guardHome, root }: ExplainRequest): Found {
  let found: Found | null = null
  for (const path of ledgerFiles(guardHome, root)) {
    const { entries } = readLedger(guardHome, path)
    const decision = entries.findLast(isDecision)
    if (decision !== undefined && (found === null || decision.at > found.decision.at))
      found = { path, decision, entries }
  }
  if (found !== null) return found
  throw new GantryError('NOT_FOUND', `the guard has decided nothing in ${root} yet`, {
    hint: "Look at 'gantry guard status' to see whether its hooks are installed.",
  })
}

function isDecision(entry: LedgerEntry): entry is DecisionEntry {
  return entry.kind === 'decision'
}

/** Notes of the project the session belongs to: `<project>/sessions/<session>.jsonl`. */
function projectNotes(guardHome: string, sessionPath: string): readonly LedgerEntry[] {
  const project = sessionPath.replace(/sessions\/[^/]+$/, 'project.jsonl')
  return project === sessionPath ? [] : readLedger(guardHome, project).entries
}

/** The history the rules saw: everything up to the event, with what persons had said by then. */
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
    ['tree nothing is asked about', gate.baseTree],
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
  /** Why the last run did not count. */
  readonly rejected: string | null
}

/** Each declared or recorded command, as it stood for the tree the event was about. */
function explainEvidence(
  { event }: EventEntry,
  { evidence, session }: History,
): readonly ExplainedEvidence[] {
  const tree = event.facts.tree ?? null
  const commands = new Set([
    ...session.declared.map(({ command }) => command),
    ...Object.keys(evidence.byCommand),
    ...Object.keys(evidence.rejected),
  ])
  return [...commands].map((command) => {
    const record = evidence.byCommand[command]
    const wanted = record === undefined || tree === null ? null : { kind: record.kind, treeHash: tree }
    return {
      command,
      status:
        record === undefined
          ? 'missing'
          : wanted === null
            ? record.exitCode === 0
              ? 'stale'
              : 'red'
            : evidenceStatus([record], wanted),
      by: record?.by ?? null,
      at: record?.startedAt ?? null,
      rejected: evidence.rejected[command] ?? null,
    }
  })
}

/** What somebody would have to do for the decision to come out otherwise, as sentences; none when nothing was refused. */
function whatWouldChange(
  { findings, verdict }: DecisionEntry,
  { event }: EventEntry,
  evidence: readonly ExplainedEvidence[],
): readonly string[] {
  const spoke = findings.filter((finding) => finding.verdict !== 'pass').map(({ rule }) => rule)
  const advice = spoke.flatMap((rule) => adviceOf[rule] ?? [])
  if (verdict === 'refuse') return [...advice, ...evidence.flatMap(wantedOf), ...plan(event.facts), waiver]
  if (verdict === 'deny' && advice.length === 0)
    return ['A call that does not do what the reason names would pass.']
  return advice
}

const adviceOf: Readonly<Record<string, readonly string[]>> = {
  'protect-itself': [
    'A call that leaves the named file alone would pass.',
    'A person can allow it for a while: gantry guard unlock.',
  ],
  'protect-files': [
    'A call that leaves the named file alone would pass.',
    'A person can change file_protection.protected_patterns in harness.json.',
  ],
  'confine-writes': [
    'A call that writes inside the boundary only would pass.',
    'A person can change boundary in harness.json, or the HARNESS_BOUNDARY_ variables the agent is started with.',
  ],
  settings: ['A person has to mend the settings of the guard.'],
}

const waiver = 'A person can let these files pass as they are: gantry guard waive --reason TEXT.'

function wantedOf({ command, status, rejected }: ExplainedEvidence): readonly string[] {
  const why = rejected === null ? '' : ` The last run did not count: ${rejected}.`
  switch (status) {
    case 'green':
      return []
    case 'missing':
      return [`\`${command}\` would have to run.${why}`]
    case 'stale':
      return [`\`${command}\` would have to run again: files changed since its last run.${why}`]
    case 'red':
      return [`\`${command}\` would have to succeed: its last run failed.${why}`]
    case 'hollow':
      return [`\`${command}\` would have to run tests: its last run executed none.${why}`]
  }
}

function plan({ project }: EventEntry['event']['facts']): readonly string[] {
  const open = project?.plan?.open ?? []
  return open.length === 0
    ? []
    : [`${open.length} open tasks of the plan would have to be done, the next one: ${open[0]}.`]
}
