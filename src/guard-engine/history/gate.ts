import { type Evidence, evidenceStatus } from '../../core/evidence.ts'
import { isObject } from '../../core/json-fields.ts'
import type {
  BranchFacts,
  DeclaredCommand,
  EventEntry,
  EvidenceHistory,
  Fold,
  GateHistory,
  LedgerEntry,
  LedgerEvent,
  Note,
  PlanScope,
  TestInventory,
} from '../contract.ts'
import { namesToRemove } from '../gate/names-to-remove.ts'
import { askedScope, asksForNoRun } from '../gate/plan-scope.ts'

const maxSubagents = 100
const maxWaived = 50

/** What the gate accepted and refused, and which tree needs no verification. */
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

function afterEvent(before: GateHistory, { event, at }: EventEntry): GateHistory {
  const state = withBranches(counted(atPrompt(before, event), event), event, at)
  const { tree } = event.facts
  switch (event.kind) {
    case 'session_start':
      // After a compaction or a resume, earlier work may still be unverified.
      return state.baseTree === null && tree != null ? { ...based(state, tree), startTree: tree } : state
    case 'prompt': {
      // Changes while the agent was idle were not made by the agent.
      const isIdle = state.settled === true || state.baseTree === null
      if (!isIdle || event.flag === true || tree == null) return state
      // Files that the user changed are a new start.
      return { ...based(state, tree), ...(tree !== state.baseTree && { startTree: tree }) }
    }
    case 'tool_before':
    case 'tool_after': {
      const limited =
        event.kind === 'tool_before'
          ? withSubagent(state, event)
          : withWork(withCopies(withGit(state, event), event), event)
      return limited.settled === true && mayChangeTree(event) ? { ...limited, settled: false } : limited
    }
    case 'stop':
      return tree != null && isUntouched(state, tree) ? { ...state, settled: true } : state
    case 'subagent_start':
      return event.agentId === null
        ? state
        : { ...state, subagentTrees: newest(state.subagentTrees, event.agentId, tree ?? null, maxSubagents) }
    default:
      return state
  }
}

/** A new prompt of the user, seen by its event or by a new id, resets the count of refusals. */
function atPrompt(state: GateHistory, event: LedgerEvent): GateHistory {
  if (event.kind === 'prompt') {
    const promptId = event.promptId ?? state.promptId
    if (event.flag === true) return { ...state, promptId }
    const { scope, noRuns: _, ...rest } = state
    const asked = scopeAsked(event.text ?? '', rest, scope)
    const toRemove = [...(state.toRemove ?? []), ...namesToRemove(event.text ?? '')].slice(-maxNames)
    return {
      ...rest,
      promptId,
      isPrompted: true,
      refusals: {},
      refusedFor: {},
      ...(asked !== null && { scope: asked }),
      ...(asksForNoRun(event.text ?? '') && { noRuns: true }),
      ...(toRemove.length > 0 && { toRemove }),
    }
  }
  if (event.agentId !== null || event.promptId === null || event.promptId === state.promptId) return state
  const { promptId } = event
  return state.promptId === null
    ? { ...state, promptId }
    : { ...state, promptId, refusals: {}, refusedFor: {} }
}

/** How much of the plan a prompt asks for; null for all of it. */
function scopeAsked(
  text: string,
  { ticked = 0, isPrompted }: GateHistory,
  before?: PlanScope,
): PlanScope | null {
  const asked = askedScope(text, isPrompted)
  if (asked === 'same') return before === undefined ? null : { ...before, doneBefore: ticked }
  return asked === null ? null : { ...asked, doneBefore: ticked }
}

/** What a subagent is started with limits its own work. */
function withSubagent(state: GateHistory, { call }: LedgerEvent): GateHistory {
  const input = call?.action === 'subagent' && isObject(call.input) ? call.input : null
  const { prompt, subagent_type: type = '' } = input ?? {}
  if (typeof prompt !== 'string' || typeof type !== 'string') return state
  const { isPrompted: _, ...first } = state
  const scope = scopeAsked(prompt, first)
  const name = type.slice(type.lastIndexOf(':') + 1)
  const { [name]: __, ...others } = state.subagentScopes ?? {}
  if (scope === null && state.subagentScopes?.[name] === undefined) return state
  return { ...state, subagentScopes: scope === null ? others : newest(others, name, scope, maxSubagents) }
}

function withGit(state: GateHistory, { call }: LedgerEvent): GateHistory {
  const { usedGit = [] } = state
  const uses = gitUses(call?.command ?? '').filter((use) => !usedGit.includes(use))
  return uses.length === 0 ? state : { ...state, usedGit: [...usedGit, ...uses] }
}

/** Work may be copied elsewhere before the files are put back. */
function withCopies(state: GateHistory, { call, facts }: LedgerEvent): GateHistory {
  const { hasEdited, copies = [] } = state
  const command = call?.command ?? ''
  if (hasEdited === true && mayCopy(command))
    return { ...state, copies: [...copies, command.slice(0, maxCopyChars)].slice(-maxCopies) }
  return hasEdited === true || (facts.edited ?? []).length === 0 ? state : { ...state, hasEdited: true }
}

function withWork(state: GateHistory, { call }: LedgerEvent): GateHistory {
  if (state.hasWorked === true || call === undefined || call.action === 'read') return state
  const commands = call.action === 'shell' ? (call.command ?? '').split(/&&|\|\||[;|\n]/) : ['']
  return commands.every((command) => movesOrReads.test(command)) ? state : { ...state, hasWorked: true }
}

const movesOrReads =
  /^\s*(?:git (?:switch|checkout|pull|fetch|status|log|diff|show|branch|rev-parse|remote)(?!.*--(?:upload-pack|exec))|cd|ls|pwd|cat|head|tail|grep|wc|echo)(?: [\w\s./:@~^=*'",-]*)?$/

const maxCopies = 8
const maxCopyChars = 500

/** Whether a command line may copy files, or what changed in them. */
function mayCopy(command: string): boolean {
  return /\bgit\b[^;&|]*\b(?:diff|show|format-patch|bundle|archive|notes|hash-object)\b|\b(?:cp|mv|rsync|tar|zip|7z|install|scp)\s|\bcat\s+[^<>|;&]+>/.test(
    command,
  )
}

/** What a command line may do with git that puts work away. */
export function gitUses(command: string): readonly ('commit' | 'stash')[] {
  if (!/\bgit\b/.test(command)) return []
  const isCommit = /\b(?:commit|merge|cherry-pick|rebase|am|update-ref|fast-import)\b/.test(command)
  return [
    ...(isCommit ? (['commit'] as const) : []),
    ...(/\bstash\b/.test(command) ? (['stash'] as const) : []),
  ]
}

function mayChangeTree({ call }: LedgerEvent): boolean {
  return call !== undefined && call.action !== 'read'
}

function based(state: GateHistory, baseTree: string): GateHistory {
  const { ticked } = state
  return { ...state, baseTree, settled: true, ...(ticked !== undefined && { baseTicked: ticked }) }
}

/** Commits while the agent was idle were not made by the agent either. */
function withBranches(
  state: GateHistory,
  { kind, facts: { branches } }: LedgerEvent,
  at: string,
): GateHistory {
  if (branches === undefined) return state
  const { heads } = branches
  const isBase = kind === 'prompt' || state.heads === undefined
  return { ...state, headsNow: heads, ...(isBase && { heads, headsAt: at }) }
}

function counted(state: GateHistory, { facts }: LedgerEvent): GateHistory {
  const ticked = facts.project?.plan?.done
  return ticked === undefined || ticked === state.ticked ? state : { ...state, ticked }
}

/** Nothing changed since the base was taken, or all work of the session was undone. */
export function isUntouched(state: GateHistory, tree: string): boolean {
  return (tree === state.baseTree || tree === state.startTree) && !hasTicked(state)
}

/** Whether a task was ticked off since the base was taken. That does not change the tree, but it is a claim that needs evidence. */
export function hasTicked({ ticked, baseTicked }: GateHistory): boolean {
  return ticked !== undefined && baseTicked !== undefined && ticked > baseTicked
}

/** Whether git brought all changes since the base, and not work of this session. */
export function hasOnlyArrived(
  { hasEdited, hasWorked, ...state }: GateHistory,
  branches: BranchFacts | undefined,
): boolean {
  const { arrived } = branches ?? {}
  if (arrived === undefined || hasEdited === true || hasTicked(state)) return false
  return arrived === 'known' || hasWorked !== true
}

function afterNote(state: GateHistory, note: Note, entry: LedgerEntry): GateHistory {
  switch (note.kind) {
    case 'refused_stop': {
      const who = note.agentId ?? 'main'
      const count = Object.hasOwn(state.refusals, who) ? (state.refusals[who] ?? 0) : 0
      return {
        ...state,
        // What was refused is looked at again, even if no call follows.
        settled: false,
        refusals: newest(state.refusals, who, count + 1, maxSubagents),
        refusedFor: newest(state.refusedFor ?? {}, who, note.blockers, maxSubagents),
      }
    }
    case 'ended': {
      const lastEnd = { state: note.state, tree: note.tree, at: entry.at }
      const { headsNow, usedGit: _, hasEdited: __, copies: ___, hasWorked: ____, ...rest } = state
      const heads = headsNow === undefined ? {} : { heads: headsNow, headsAt: entry.at }
      return note.tree === null
        ? { ...state, lastEnd, refusedFor: {} }
        : based({ ...rest, lastEnd, refusedFor: {}, ...heads }, note.tree)
    }
    case 'waived':
      return note.tree === null ? state : { ...state, waived: [...state.waived, note.tree].slice(-maxWaived) }
    case 'unlocked':
      return { ...state, unlockedUntilMs: note.untilMs }
    case 'sealed':
      return { ...state, sealed: note.files, ...(note.texts && { sealedTexts: note.texts }) }
    default:
      return state
  }
}

/** The record with this value as its newest, and the oldest dropped: an agent may start any number of subagents and commands. */
function newest<Value>(
  all: Readonly<Record<string, Value>>,
  key: string,
  value: Value,
  max = maxCommands,
): Readonly<Record<string, Value>> {
  return Object.fromEntries([...Object.entries(withoutKey(all, key)).slice(1 - max), [key, value]])
}

/** The same record when it has no such key. */
export function withoutKey<Value>(
  all: Readonly<Record<string, Value>>,
  key: string,
): Readonly<Record<string, Value>> {
  if (!Object.hasOwn(all, key)) return all
  const { [key]: _, ...others } = all
  return others
}

/** The notes of an entry: those of a decision, or one written by a person or another program. */
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

/** What the runs of the commands have proven. Never reset, because evidence is bound to its tree. */
export const evidenceFold: Fold<EvidenceHistory> = {
  initial: { byCommand: {}, rejected: {}, tests: null, testsGreen: false },
  apply: (state, entry) =>
    entry.kind === 'event' ? withKnownCommands(state, entry) : notesOf(entry).reduce(withProof, state),
}

function withKnownCommands(before: EvidenceHistory, { event }: EventEntry): EvidenceHistory {
  const begun = event.kind === 'session_start' ? atStartOf(before, event) : before
  const { placed } = event.facts
  const state =
    placed === undefined
      ? begun
      : {
          ...begun,
          placed: Object.entries(placed).reduce(
            (all, [path, id]) => newest(all, path, id),
            begun.placed ?? {},
          ),
        }
  const now = event.facts.project?.commands
  if (now === undefined) return state
  const isNew = event.kind === 'session_start' && event.source === 'startup'
  const known = union(isNew ? [] : (state.known ?? []), now)
  return { ...state, known }
}

/** What ran on the tree of the start, in this session or before it, shows what had failed already. */
function atStartOf(state: EvidenceHistory, { facts }: LedgerEvent): EvidenceHistory {
  const { tree } = facts
  if (tree == null || state.startTree !== undefined) return state
  const known = Object.entries(runsOn(state, tree)).filter(([, { treeHash }]) => treeHash === tree)
  return { ...state, startTree: tree, atStart: Object.fromEntries(known) }
}

function withProof(state: EvidenceHistory, note: Note): EvidenceHistory {
  switch (note.kind) {
    case 'evidence': {
      const { command, treeHash } = note.evidence
      return {
        ...state,
        ...(note.alone === true && withCount(state, note.evidence)),
        byCommand: newest(state.byCommand, command, { ...note.evidence, by: note.by }),
        rejected: withoutKey(state.rejected, command),
        unclear: withoutKey(state.unclear ?? {}, command),
        runs: [
          ...(state.runs ?? []).filter((run) => run.command !== command || run.treeHash !== treeHash),
          { ...note.evidence, by: note.by },
        ].slice(-maxRuns),
        ...(isRedTest(note.evidence) && { reds: [...(state.reds ?? []), note.evidence].slice(-maxReds) }),
        ...(treeHash === state.startTree && { atStart: newest(state.atStart ?? {}, command, note.evidence) }),
      }
    }
    // What was accepted is what later runs are compared with.
    case 'ended': {
      if (note.tree === null) return state
      const { newTests: _, unclear: __, ...rest } = state
      return state.most === undefined ? rest : { ...rest, most: currentCounts(state, note.tree) }
    }
    case 'no_evidence':
      return {
        ...state,
        rejected: newest(state.rejected, note.command, note.why),
        unclear:
          note.unclear === undefined
            ? withoutKey(state.unclear ?? {}, note.command)
            : newest(state.unclear ?? {}, note.command, note.unclear),
        ...(note.failedAtStart !== undefined && withFailed(state, note.command, note.failedAtStart)),
      }
    case 'tests_seen':
      return {
        ...state,
        tests: note.inventory,
        testsGreen: note.green,
        ...withNewTests(state, note.inventory),
      }
    default:
      return state
  }
}

function withFailed(
  { failedAtStart: all = {} }: EvidenceHistory,
  command: string,
  names: readonly string[],
): Pick<EvidenceHistory, 'failedAtStart'> {
  const known = Object.hasOwn(all, command) ? (all[command] ?? []) : []
  return { failedAtStart: newest(all, command, [...new Set([...known, ...names])].slice(-maxNames)) }
}

const maxNames = 200

/** A file with the content of an earlier one was moved. */
function withNewTests(
  { tests, newTests = {} }: EvidenceHistory,
  { files }: TestInventory,
): Pick<EvidenceHistory, 'newTests'> {
  const before = tests?.files ?? files
  const hashes = new Set(Object.values(before).map(({ hash }) => hash))
  const added = Object.entries(files)
    .filter(([path, { hash }]) => !Object.hasOwn(before, path) && !hashes.has(hash))
    .map(([path, { cases }]) => [path, cases] as const)
  return added.length === 0 ? {} : { newTests: { ...newTests, ...Object.fromEntries(added) } }
}

const maxReds = 12
const maxRuns = 60

/** Whether the run, for itself, proves that its command succeeds. */
export function isGreenRun(evidence: Evidence): boolean {
  return evidenceStatus([evidence], evidence) === 'green'
}

/**
 * By command the newest run on this tree, or on one that `isLike` it; the newest of all where there is none. So a run is found again when
 * the tree returns to an earlier state.
 */
export function runsOn(
  { byCommand, runs = [] }: Pick<EvidenceHistory, 'byCommand' | 'runs'>,
  tree: string | null,
  isLike: (run: Evidence) => boolean = () => false,
): EvidenceHistory['byCommand'] {
  const here = runs.filter((run) => run.treeHash === tree || isLike(run))
  return { ...byCommand, ...Object.fromEntries(here.map((run) => [run.command, run])) }
}

/** Tests that a run really executed; undefined when its output does not show it. */
export function testsRun({ executed, skipped = 0 }: Evidence): number | undefined {
  return executed === undefined ? undefined : executed - skipped
}

/** Whether a run executed tests, even if its output shows only those that failed. */
export function ranTests(run: Evidence): boolean {
  return (testsRun(run) ?? run.failed ?? 0) > 0
}

function withCount({ most = {} }: EvidenceHistory, evidence: Evidence): Pick<EvidenceHistory, 'most'> {
  const ran = testsRun(evidence) ?? 0
  const { command } = evidence
  return ran > (Object.hasOwn(most, command) ? (most[command] ?? 0) : 0)
    ? { most: newest(most, command, ran) }
    : {}
}

function currentCounts(state: EvidenceHistory, tree: string): Readonly<Record<string, number>> {
  const byCommand = runsOn(state, tree)
  const counts = Object.keys(state.most ?? {}).flatMap((command) => {
    const run = byCommand[command]
    const ran = run === undefined ? undefined : testsRun(run)
    return ran === undefined ? [] : [[command, ran] as const]
  })
  return Object.fromEntries(counts)
}

function isRedTest({ kind, exitCode, failed = 0 }: Evidence): boolean {
  return (kind === 'test' || kind === 'other') && (exitCode !== 0 || failed > 0)
}

function union(old: readonly DeclaredCommand[], now: readonly DeclaredCommand[]): readonly DeclaredCommand[] {
  const texts = new Set(now.map(({ command }) => command))
  return [...now, ...old.filter(({ command }) => !texts.has(command))].slice(0, maxKnown)
}
