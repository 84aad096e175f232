import type { Evidence } from '../core/evidence.ts'
import type { HookEvent, ToolCall, ToolOutcome } from '../core/hook-event.ts'
import { kindOfCommand } from '../core/kind-of-command.ts'
import type { FactName, Note, OpenCall } from '../guard-engine/contract.ts'
import { commandStatus } from '../guard-engine/evidence/command-status.ts'
import { knownCommands, requiredCommands } from '../guard-engine/evidence/declared-commands.ts'
import { type FoundRuns, findRuns } from '../guard-engine/evidence/find-runs.ts'
import { changedTree, countsOf, emptyEnd } from '../guard-engine/evidence/judge-run.ts'
import { changedShell, leavesChange } from '../guard-engine/evidence/lasting-change.ts'
import type { FoundRun } from '../guard-engine/evidence/match-command.ts'
import { provesNothing } from '../guard-engine/evidence/proves-nothing.ts'
import { callSignature } from '../guard-engine/store-event.ts'
import { weakenings } from '../guard-engine/tests/look-at-tests.ts'
import type { Rule, RuleAnswer, Scene } from './contract.ts'

/**
 * Notes what the agent's own runs of the declared commands prove: only after they ended, only when the end of the call is the
 * end of the command, only for the tree that was there before and after.
 */
export const recordEvidence: Rule = {
  name: 'record-evidence',
  on: ['session_start', 'tool_before', 'tool_after'],
  wants,
  judge,
}

function wants({ event, history, settings, world, traits }: Omit<Scene, 'facts'>): readonly FactName[] {
  if (!settings.checklist.enabled) return []
  if (event.kind === 'session_start')
    return history.evidence.tests === null ? ['project', 'tests'] : ['project']
  if (event.kind !== 'tool_before' && event.kind !== 'tool_after') return []
  const { action } = event.call
  if (action.kind !== 'shell') return []
  const { runs } = runsOf(event, event.call, { history, settings, world, traits })
  const counts = runs.some(({ why }) => why === null)
  if (event.kind === 'tool_after') {
    if (!counts) return []
    return event.outcome.kind === 'success' ? ['tree', 'tests'] : ['tree']
  }
  if (counts) return ['tree']
  // It may have become a command of the project since the last look.
  return mayVerify(action.command) ? ['tree', 'project'] : []
}

function mayVerify(command: string): boolean {
  return command.length < 2_000 && verifying.test(command) && kindOfCommand(command) !== 'other'
}

/** Cheaper than to find out what kind of command it is, which most are not anyway. */
const verifying =
  /test|spec|lint|check|build|verify|jest|mocha|ava|tap|tox|nox|bats|prove|make|ruff|flake8|mypy|pyright|tsc|clippy|vet|biome|prettier|black/

function judge(scene: Scene): RuleAnswer | null {
  const { event, history, settings, facts } = scene
  if (!settings.checklist.enabled) return null
  if (event.kind === 'session_start') {
    if (facts.tests === null || history.evidence.tests !== null) return null
    return { remember: [{ kind: 'tests_seen', inventory: facts.tests, green: false }] }
  }
  if (event.kind !== 'tool_after' || event.call.action.kind !== 'shell') return null
  const found = runsOf(event, event.call, scene)
  const lasting = lastingChange(event, scene)
  if (found.runs.length === 0) return lasting.length === 0 ? null : { remember: lasting }
  const notes = [...found.runs.flatMap((run) => noteOf(run, found, scene, event)), ...lasting]
  const answer = toldOnce(notes, found, history)
  const seen = testsSeen(notes, scene)
  return { ...answer, remember: [...notes, ...seen] }
}

function runsOf(
  event: HookEvent,
  { action }: ToolCall,
  scene: Pick<Scene, 'history' | 'settings' | 'world' | 'traits'>,
): FoundRuns {
  if (action.kind !== 'shell' || !namesKnown(action.command, scene)) return { runs: [], attributable: false }
  return findRuns(action.command, knownCommands(scene), {
    root: event.root,
    // A shell that lives on is where an earlier call left it, whatever the agent says.
    directory: scene.traits.keepsShell === true ? null : (action.directory ?? event.cwd),
    changed: scene.history.session.warned.includes(changedShell)
      ? 'an earlier call changed the shell, which this agent keeps'
      : null,
    language: action.language,
    real: (path) => scene.world.resolve(path).real,
  })
}

/** `findRuns` looks no further either; to know it here spares most calls loading what finds runs. */
function namesKnown(script: string, { history, settings }: Pick<Scene, 'history' | 'settings'>): boolean {
  const known = [...history.session.declared, ...(history.evidence.known ?? [])].map(({ command }) => command)
  return [...known, ...settings.checklist.verificationCommands].some((command) =>
    script.includes(command.trim().split(/\s+/, 1)[0] ?? command),
  )
}

function lastingChange({ call: { action } }: After, { history, traits }: Scene): readonly Note[] {
  if (traits.keepsShell !== true || action.kind !== 'shell') return []
  const isNew = !history.session.warned.includes(changedShell) && leavesChange(action.command)
  return isNew ? [{ kind: 'warned', about: changedShell }] : []
}

type After = HookEvent & { readonly kind: 'tool_after' }

function noteOf(run: FoundRun, found: FoundRuns, scene: Scene, { call, outcome }: After): readonly Note[] {
  const { command, kind } = run.wanted.declared
  const no = (why: string): readonly Note[] => [{ kind: 'no_evidence', command, why }]
  const idle = provesNothing(command)
  if (idle !== null) return no(idle)
  if (run.why !== null) return no(`it ${run.why.text}`)
  const unseen = unseenEnd(call, outcome)
  if (unseen !== null) return no(unseen)
  const failed = outcome.kind === 'failure' || (outcome.exitCode ?? 0) !== 0
  const counts = countsOf(kind, outcome.output)
  if (failed && !found.attributable && !isTheFailedTest(run, found, counts))
    return no('it ran together with other commands and one of them failed; run it by itself')
  const exitCode = failed ? (outcome.exitCode ?? 1) : 0
  const empty = emptyEnd({ exitCode, output: outcome.output, kind, limited: run.limited })
  if (empty !== null) return no(empty)
  const open = openCall(call, scene)
  const { tree } = scene.facts
  if (tree === null || open?.tree == null) return no('the tree it ran on could not be fingerprinted')
  if (open.tree !== tree) return no(changedTree)
  const evidence: Evidence = {
    kind,
    command,
    exitCode,
    treeHash: tree,
    startedAt: open.at,
    durationMs: outcome.durationMs ?? Math.max(0, scene.nowMs - (Date.parse(open.at) || scene.nowMs)),
    ...counts,
  }
  return [{ kind: 'evidence', evidence, by: 'agent', callId: call.id }]
}

/** The call ended in a way that leaves open how the command ended. */
function unseenEnd({ action }: ToolCall, outcome: ToolOutcome): string | null {
  if (outcome.background || (action.kind === 'shell' && action.background))
    return 'it was started in the background, so its end is not known'
  if (outcome.timedOut) return 'it ran into the time limit of the tool'
  if (outcome.interrupted) return 'it was interrupted'
  if (outcome.kind === 'unknown')
    return 'the agent does not tell how commands end; `gantry guard verify` runs it and records the evidence'
  return null
}

/** In a chain that failed, the only test run is the one whose output shows failed tests. */
function isTheFailedTest(run: FoundRun, { runs }: FoundRuns, counts: Pick<Evidence, 'failed'>): boolean {
  const tests = runs.filter(({ wanted, why }) => wanted.declared.kind === 'test' && why?.kind !== 'other')
  return run.wanted.declared.kind === 'test' && tests.length === 1 && (counts.failed ?? 0) > 0
}

function openCall(call: ToolCall, { history }: Scene): OpenCall | undefined {
  const key = call.id ?? callSignature(call)
  return Object.hasOwn(history.calls.open, key) ? history.calls.open[key] : undefined
}

/** The model hears at once why a run does not count, but the same thing only once. */
function toldOnce(notes: readonly Note[], { runs }: FoundRuns, history: Scene['history']): RuleAnswer {
  const ran = new Set(
    runs.filter(({ why }) => why?.kind !== 'other').map(({ wanted }) => wanted.declared.command),
  )
  const lines = notes.flatMap((note) => {
    if (note.kind !== 'no_evidence' || !ran.has(note.command)) return []
    const isKnown = history.evidence.rejected[note.command] === note.why
    return isKnown ? [] : [`- \`${note.command}\`: ${note.why}.`]
  })
  if (lines.length === 0) return {}
  return { context: `Gantry guard: this run is not counted as verification.\n${lines.join('\n')}` }
}

/** All is green: the tests as they are now are what later looks are compared with, unless they were weakened on the way. */
function testsSeen(notes: readonly Note[], { history, settings, facts }: Scene): readonly Note[] {
  if (facts.tests === null || facts.tree === null) return []
  const now = { ...history.evidence.byCommand }
  for (const note of notes)
    if (note.kind === 'evidence') now[note.evidence.command] = { ...note.evidence, by: note.by }
  const { tree } = facts
  const states = requiredCommands({ history, settings, project: null }).map((declared) =>
    commandStatus(declared, { byCommand: now, rejected: {} }, tree),
  )
  const isGreen = states.length > 0 && states.every(({ kind }) => kind === 'green')
  const isWeaker = weakenings(history.evidence.tests, facts.tests).length > 0
  return isGreen && !isWeaker ? [{ kind: 'tests_seen', inventory: facts.tests, green: true }] : []
}
