import { resolve } from 'node:path'
import type { Evidence } from '../core/evidence.ts'
import type { HookEvent, ToolCall, ToolOutcome } from '../core/hook-event.ts'
import { kindOfCommand } from '../core/kind-of-command.ts'
import type { FactName, Note } from '../guard-engine/contract.ts'
import { commandStatus, partsOf } from '../guard-engine/evidence/command-status.ts'
import { showsSuccess } from '../guard-engine/evidence/coverage/shown-status.ts'
import { type FoundRuns, findRuns, type RunPlace, testsIn } from '../guard-engine/evidence/find-runs.ts'
import { hasOurRights } from '../guard-engine/evidence/has-our-rights.ts'
import { whyHollow } from '../guard-engine/evidence/hollow-definition.ts'
import {
  changedTree,
  failureOf,
  showsGreen,
  testCountsOf,
  whyRunProvesNothing,
  whySilent,
  writtenMeanwhile,
} from '../guard-engine/evidence/judge-run.ts'
import { changedShell, leavesLastingChange } from '../guard-engine/evidence/lasting-change.ts'
import { type FoundRun, isUnclear, type RunDoubt } from '../guard-engine/evidence/match-command.ts'
import { packageChecksIn } from '../guard-engine/evidence/package-checks.ts'
import { provesNothing } from '../guard-engine/evidence/proves-nothing.ts'
import { knownCommands, requiredCommands } from '../guard-engine/evidence/required-commands.ts'
import { runsOn } from '../guard-engine/history/gate.ts'
import { openCall } from '../guard-engine/store-event.ts'
import { fewerTests, weakenings } from '../guard-engine/tests/weakenings.ts'
import { unrollLoops } from '../shell/unroll-loops.ts'
import type { Rule, RuleAnswer, Scene } from './contract.ts'

/**
 * Records what the agent's own runs of the declared commands prove. A run counts only after it ended, only if the end of the call is the
 * end of the command, and only if the tree was the same before and after.
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
  const found = runsOf(event, event.call, { history, settings, world, traits })
  const { runs } = found
  const counts = runs.some(
    ({ why, byOutput, byStatus }) => why === null || (byOutput ?? byStatus) !== undefined,
  )
  if (event.kind === 'tool_after') {
    if (!counts)
      return isOnStart(event, history) ||
        runs.some((run) => isUnclear(run, true)) ||
        showsUnread(found, event.outcome)
        ? ['tree', 'placed']
        : ['placed']
    return event.outcome.kind === 'success' ? ['tree', 'tests', 'placed'] : ['tree', 'placed']
  }
  // While no command is known, any test run counts; a new file may just have made one known, or another part of the call.
  if (counts) {
    const isOpen = knownCommands({ history, settings }).length === 0 || mayVerifyTwice(action.command)
    return isOpen ? ['tree', 'project'] : ['tree']
  }
  // Where it starts must not become the right place while it runs.
  if (runs.some(({ why }) => why?.kind === 'directory')) return []
  // It may have become a command of the project since the last check.
  return mayVerify(action.command) ? ['tree', 'project'] : []
}

/** Whether the call failed, and began on the files of the start of the session. */
function isOnStart({ call, outcome }: After, history: Scene['history']): boolean {
  const { startTree } = history.evidence
  return outcome.kind === 'failure' && startTree !== undefined && openCall(call, history)?.tree === startTree
}

function mayVerify(command: string): boolean {
  const isScript = /^(?:\w*sh )?[\w./-]+\.sh$/.test(command.trim())
  return command.length < 2_000 && (isScript || (isVerifying(command) && kindOfCommand(command) !== 'other'))
}

function mayVerifyTwice(command: string): boolean {
  return command.split(/&&|\|\||[;\n]/).filter(mayVerify).length > 1
}

/** A cheap check that rules out most commands. One pattern of all these words would take a hook longer to compile. */
function isVerifying(command: string): boolean {
  return verifyingWords.some((word) => command.includes(word)) || verifyingProgram.test(command)
}

const verifyingWords =
  'test spec lint check build verify jest mocha ava tap tox nox bats prove make unit rspec ruff flake8 mypy pyright tsc clippy vet biome prettier black'.split(
    ' ',
  )
const verifyingProgram = /\b(?:npm|pnpm|yarn|bun|just|task|mvnw?|gradlew?|\S+\.sh)\b/

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
  const unread = unreadRuns(found, scene, event)
  const notes = [...found.runs.flatMap((run) => noteOf(run, found, scene, event)), ...unread, ...lasting]
  if (notes.length === 0) return null
  const answer = toldOnce(notes, found, history)
  const seen = testsSeen(notes, scene)
  return { ...answer, remember: [...notes, ...seen] }
}

/** The output ends green for tests that a program ran which the guard cannot read. */
function showsUnread({ startsUnknown }: FoundRuns, { kind, output }: ToolOutcome): boolean {
  return startsUnknown === true && kind === 'success' && showsGreenTests(output)
}

/** Which tests they were is not known, so the guard runs the checks itself. */
function unreadRuns(found: FoundRuns, scene: Scene, { call, outcome }: After): readonly Note[] {
  if (!showsUnread(found, outcome) || unseenEnd(call, outcome) !== null) return []
  const isRead = (command: string): boolean =>
    found.runs.some(({ wanted, why }) => wanted.declared.command === command && why?.isMention !== true)
  return knownCommands(scene)
    .filter(({ kind, command }) => kind === 'test' && !isRead(command))
    .map(({ command }) => unclear(command, 'it is not known which tests the call ran', true, scene))
}

function showsGreenTests(output: string): boolean {
  const { executed = 0, failed = 0 } = testCountsOf('test', output)
  return (executed > 0 || showsPassed.test(output)) && failed === 0 && !namesFailures.test(output)
}

function runsOf(
  event: HookEvent,
  call: ToolCall,
  scene: Pick<Scene, 'history' | 'settings' | 'world' | 'traits'> & { readonly facts?: Scene['facts'] },
): FoundRuns {
  const { action } = call
  if (action.kind !== 'shell' || !namesKnown(action.command, scene)) return { runs: [], attributable: false }
  const { root } = event
  const { world } = scene
  const start =
    action.directory ?? (event.kind === 'tool_before' ? event.cwd : openCall(call, scene.history)?.cwd)
  // A persistent shell stays where an earlier call left it, whatever the agent reports.
  const directory = scene.traits.keepsShell === true ? null : (start ?? event.cwd)
  const read = (name: string) => world.readText(`${root}/${name}`, maxFileBytes)
  const declared = knownCommands(scene)
  const command = namesPlaceAnew.test(action.command)
    ? action.command
    : action.command.replaceAll(ownPlace, '.')
  const script = unrollLoops(command, (path) =>
    directory === null ? null : world.list(resolve(directory, path)),
  )
  const known = declared.length === 0 ? testsIn(script, { root, directory }) : declared
  const packages = packageChecksIn(script, known, { root, cwd: directory, world, read })
  const place: RunPlace = {
    root,
    directory,
    isAmbiguous: start === undefined || Boolean(world.env.CDPATH),
    changed: scene.history.session.warned.includes(changedShell)
      ? 'an earlier call changed the shell, which this agent keeps'
      : null,
    language: action.language,
    real: (path) => scene.world.resolve(path).real,
    list: (path) => world.list(path),
    read,
    tests: Object.keys((scene.facts?.tests ?? scene.history.evidence.tests)?.files ?? {}),
  }
  const found = findRuns(command, [...known, ...packages], place)
  const whole = new Set(found.runs.flatMap(({ why, wanted }) => (why === null ? [wanted.declared] : [])))
  const parts = known.flatMap((each) => (each.explicit && !whole.has(each) ? partsOf(each) : []))
  const rest = parts.filter(({ command }) => !known.some((each) => each.command === command))
  return rest.length === 0 ? found : findRuns(command, [...known, ...rest, ...packages], place)
}

/** `npm --prefix "$PWD" test`. */
const ownPlace = /(?<=[\s="])\$(?:PWD\b|\{PWD\}|\(pwd\))(?=[\s"/;&|)]|$)/g
const namesPlaceAnew = /(?<!\$\{?)\bPWD\b|(?<!\$\()\bpwd\b/
const maxFileBytes = 512 * 1024

/** A call that names no known program and no task. Checking it here avoids loading `findRuns` for most calls. */
function namesKnown(script: string, { history, settings }: Pick<Scene, 'history' | 'settings'>): boolean {
  const known = [...history.session.declared, ...(history.evidence.known ?? [])].map(({ command }) => command)
  const wanted = [...known, ...settings.checklist.verificationCommands]
  const isNamed = wanted.some((command) => script.includes(command.trim().split(/\s+/, 1)[0] ?? command))
  const mayStartHooks = /\bgit\b/.test(script) && /\b(?:commit|push)\b/.test(script)
  return isNamed || isVerifying(script) || mayStartHooks
}

function lastingChange({ call: { action } }: After, { history, traits }: Scene): readonly Note[] {
  if (traits.keepsShell !== true || action.kind !== 'shell') return []
  const isNew = !history.session.warned.includes(changedShell) && leavesLastingChange(action.command)
  return isNew ? [{ kind: 'warned', about: changedShell }] : []
}

type After = HookEvent & { readonly kind: 'tool_after' }

function noteOf(run: FoundRun, found: FoundRuns, scene: Scene, { call, outcome }: After): readonly Note[] {
  const { command, kind } = run.wanted.declared
  const { history } = scene
  const no = (why: string): readonly Note[] => [{ kind: 'no_evidence', command, why }]
  const idle = provesNothing(command)
  if (idle !== null) return no(idle)
  const hidden = run.why === null ? null : whyHidden(run, run.why, outcome)
  const isShown = kind !== 'lint' && showsGreenTests(outcome.output)
  if (hidden !== null) {
    const names = run.why?.kind === 'other' ? failuresAtStart(run, scene, { call, outcome }) : []
    const failedAtStart = names.length > 0 && { failedAtStart: names }
    const isRed = (testCountsOf('test', outcome.output).failed ?? 0) > 0 || namesFailures.test(outcome.output)
    const isOpen = isUnclear(run, isShown) && !isRed && outcome.kind === 'success'
    const note = unclear(command, `it ${hidden}`, isOpen, scene)
    // A run of a part says nothing against an earlier run of the whole.
    const before = run.why?.kind === 'other' ? history.evidence.unclear?.[command] : undefined
    return [{ ...(before !== undefined && { unclear: before }), ...note, ...failedAtStart }]
  }
  const unseen = unseenEnd(call, outcome)
  if (unseen !== null) {
    const isOpen =
      !outcome.interrupted && (outcome.timedOut || outcome.background || outcome.kind === 'success')
    const hasBegun =
      run.starts === 'at_once' || (isInBackground(call, outcome) && run.starts === 'after_checks')
    return [unclear(command, unseen, isOpen && hasBegun, scene)]
  }
  const failed = outcome.kind === 'failure' || (outcome.exitCode ?? 0) !== 0
  const counts = shownCounts(run, outcome)
  if (failed && !found.attributable && !isTheFailedTest(run, found, counts)) {
    const why = 'it ran together with other commands and one of them failed; run it by itself'
    return [unclear(command, why, isShown || kind === 'lint', scene)]
  }
  const exitCode = failed ? (outcome.exitCode ?? 1) : 0
  const empty = whyRunProvesNothing({
    ...{ exitCode, kind },
    output: outcome.output,
    limited: run.limited,
    isWhole: showsAll(call, outcome),
    read: (path) => scene.world.readText(resolve(scene.event.root, path), maxFileBytes),
  })
  if (empty !== null) return no(empty)
  if (!failed && scene.facts.runner !== undefined) return no(scene.facts.runner)
  const hollow = failed ? null : whyHollow(command, history.evidence.tests, scene.facts.tests)
  if (hollow !== null) return no(`proves nothing: ${hollow}`)
  const { written } = scene.facts
  const edits = found.changesEarlier === true || found.changesLater === true
  if (!failed && written !== undefined && !(edits && mayWrite(call, written)))
    return [unclear(command, writtenMeanwhile(written), run.starts !== undefined, scene)]
  const { around } = scene.facts
  if (!failed && around !== undefined && (around.isByCall === true || hasOurRights(scene)))
    return [unclear(command, around.why, true, scene)]
  const silent = whySilent({ exitCode, command, ...counts }, history.evidence.most)
  if (silent !== null && showsAll(call, outcome)) return no(silent)
  const open = openCall(call, history)
  const { tree } = scene.facts
  if (tree === null) return no('the tree it ran on could not be fingerprinted')
  if (open?.tree == null) {
    const why = 'only the call itself made it a check, so the tree before it is not known; run it again'
    return [unclear(command, why, !failed && run.starts !== undefined, scene)]
  }
  const isGenerated = scene.facts.onlyGenerated === true
  const isKnown = isGenerated || found.changesEarlier === true || (!failed && found.changesLater === true)
  if (open.tree !== tree && !isKnown)
    return [unclear(command, changedTree, !failed && run.starts !== undefined, scene)]
  const evidence: Evidence = {
    kind,
    command,
    exitCode,
    treeHash: found.changesEarlier === true || isGenerated ? tree : open.tree,
    startedAt: open.at,
    durationMs: outcome.durationMs ?? Math.max(0, scene.nowMs - (Date.parse(open.at) || scene.nowMs)),
    ...counts,
    ...failureOf(exitCode, outcome.output),
  }
  const isAlone = found.attributable && run.why === null
  return [{ kind: 'evidence', evidence, by: 'agent', callId: call.id, ...(isAlone && { alone: true }) }]
}

/** Whether another part of the call wrote the file: one that names it, a formatter, or an installation. */
function mayWrite({ action }: ToolCall, path: string): boolean {
  if (action.kind !== 'shell') return false
  const name = path.slice(path.lastIndexOf('/') + 1)
  return action.command.includes(name) || writers.test(action.command)
}

const writers =
  /\s--?(?:write|fix\S*|w|i)\b|\b(?:fmt|format\w*|black|ruff|isort|prettier|gen\w*|install|ci|add|sync|update|upgrade|patch|apply|checkout|restore|stash|pull|merge|rebase)\b/

/** Behind a filter that cut the rest, Cargo's last block has the tests in comments, which may be none. */
function shownCounts(
  { byStatus, wanted }: FoundRun,
  { output }: ToolOutcome,
): ReturnType<typeof testCountsOf> {
  const counts = testCountsOf(wanted.declared.kind, output)
  const isCut = byStatus !== undefined && /^ +Doc-tests /m.test(output) && !/^ +Running /m.test(output)
  return isCut && (counts.executed ?? 0) === 0 && (counts.failed ?? 0) === 0 ? {} : counts
}

/** A green end without a number of tests: Go, Gradle, Maven. */
const showsPassed = /^ok\s+\S+\s|^(?:\[INFO\] )?BUILD SUCCESS/m

/** Also where a filter puts something before the lines of a runner. */
const namesFailures =
  /\b(?:fail|failed|failures?|failing):? +[1-9]|\b[1-9]\d* (?:failed|failing|failures?)\b/i

function unclear(
  command: string,
  why: string,
  isOpen: boolean,
  scene: Scene,
): Note & { readonly kind: 'no_evidence' } {
  const { tree } = scene.facts
  return {
    ...{ kind: 'no_evidence', command, why },
    ...(isOpen && tree !== null && hasOurRights(scene) && { unclear: tree }),
  }
}

/** Tests that failed on the files of the start in a run of a part, which nothing but its choice of tests tells from the whole. */
function failuresAtStart(
  { wanted: { declared } }: FoundRun,
  { event, facts, history, traits }: Scene,
  { call, outcome }: Pick<After, 'call' | 'outcome'>,
): readonly string[] {
  const { startTree } = history.evidence
  const open = openCall(call, history)
  const isThere = open?.tree === startTree && facts.tree === startTree && startTree !== undefined
  const isPlain = call.action.kind === 'shell' && traits.keepsShell !== true && open?.cwd === event.root
  if (!isThere || !isPlain || outcome.kind !== 'failure' || unseenEnd(call, outcome) !== null) return []
  if (declared.kind !== 'test' || !choosesTests(call.action.command, declared.command)) return []
  return failureOf(outcome.exitCode ?? 1, outcome.output).failures ?? []
}

function choosesTests(script: string, whole: string): boolean {
  const program = ['pytest', 'go test'].find((name) => whole === name || whole.startsWith(`${name} `))
  if (program === undefined || !script.startsWith(`${program} `)) return false
  const words = script.slice(program.length).trim().split(' ')
  return words.every((word) => testChoice.test(word))
}

/** Options that change nothing else, and paths below the project. */
const testChoice = /^(?:-[qvsx]+|--tb=\w+|-run|-k|-count=1|(?![-/]|(?:.*\/)?\.\.(?:\/|$))[\w./:]+)$/

/** Whether the output is whole: not redirected, and not long enough to be cut by the agent. */
function showsAll({ action }: ToolCall, { output }: ToolOutcome): boolean {
  return action.kind === 'shell' && !/[|>]/.test(action.command) && output.length < 20_000
}

/** Why the run does not count although it ran; null when its own summary in the output shows how it ended. */
function whyHidden(
  { wanted, byOutput, byStatus }: FoundRun,
  why: RunDoubt,
  outcome: ToolOutcome,
): string | null {
  const { kind } = wanted.declared
  const runners = wanted.ways.filter(({ lacks }) => lacks === undefined).map(({ runner }) => runner)
  if (byStatus !== undefined && outcome.kind === 'success' && showsSuccess(outcome.output, byStatus))
    return null
  if (byOutput === undefined || outcome.kind !== 'success') return why.text
  const isRed = (testCountsOf(kind, outcome.output).failed ?? 0) > 0
  const shown = byOutput.isEarlier === true ? 'test' : kind
  if (isRed || showsGreen(outcome.output, byOutput, { kind: shown, runners })) return null
  return `${why.text}, and the output does not show its whole green summary`
}

function isInBackground({ action }: ToolCall, outcome: ToolOutcome): boolean {
  return outcome.background || (action.kind === 'shell' && action.background)
}

/** Why the end of the call does not show how the command ended. */
function unseenEnd(call: ToolCall, outcome: ToolOutcome): string | null {
  if (isInBackground(call, outcome)) return 'it was started in the background, so its result is unknown'
  if (outcome.timedOut) return 'it ran into the time limit of the tool'
  if (outcome.interrupted) return 'it was interrupted'
  if (outcome.kind === 'unknown')
    return 'the agent does not tell how commands end; `gantry guard verify` runs it and records the evidence'
  return null
}

/** In a failed chain, the single test run whose output shows failed tests is the one that failed. */
function isTheFailedTest(run: FoundRun, { runs }: FoundRuns, counts: Pick<Evidence, 'failed'>): boolean {
  const tests = runs.filter(({ wanted, why }) => wanted.declared.kind === 'test' && why?.kind !== 'other')
  return run.wanted.declared.kind === 'test' && tests.length === 1 && (counts.failed ?? 0) > 0
}

/** Tells the model at once why a run does not count, but each reason only once. */
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

/** Everything is green: later tests are compared with the current ones, unless they were weakened in between. */
function testsSeen(notes: readonly Note[], { history, settings, facts }: Scene): readonly Note[] {
  if (facts.tests === null || facts.tree === null) return []
  const now = { ...runsOn(history.evidence, facts.tree) }
  for (const note of notes)
    if (note.kind === 'evidence') now[note.evidence.command] = { ...note.evidence, by: note.by }
  const { tree } = facts
  const states = requiredCommands({ history, settings, project: null }).map((declared) =>
    commandStatus(declared, { byCommand: now, rejected: {} }, tree),
  )
  const isGreen = states.length > 0 && states.every(({ kind }) => kind === 'green')
  const evidence = { ...history.evidence, byCommand: now }
  const isWeaker =
    weakenings(history.evidence.tests, facts.tests, evidence).length > 0 ||
    fewerTests(evidence, facts.tests).length > 0 ||
    states.some(({ declared }) => whyHollow(declared.command, history.evidence.tests, facts.tests) !== null)
  return isGreen && !isWeaker ? [{ kind: 'tests_seen', inventory: facts.tests, green: true }] : []
}
