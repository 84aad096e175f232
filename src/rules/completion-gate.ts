import { counted } from '../core/counted.ts'
import type { EndState } from '../core/decision.ts'
import type { HookEvent } from '../core/hook-event.ts'
import { kindOfCommand } from '../core/kind-of-command.ts'
import type { FactName, Note } from '../guard-engine/contract.ts'
import { hasOurRights } from '../guard-engine/evidence/has-our-rights.ts'
import { idleCommands, knownCommands } from '../guard-engine/evidence/required-commands.ts'
import { namedFiles } from '../guard-engine/gate/change-influence.ts'
import { type Blockers, findBlockers, openPlan, putAwayWork } from '../guard-engine/gate/find-blockers.ts'
import { isNamedTest, isTestOf } from '../guard-engine/gate/names-to-remove.ts'
import { claimsAllDone } from '../guard-engine/gate/plan-scope.ts'
import { blockerSummary, failsInNewTests, refusalText } from '../guard-engine/gate/refusal-text.ts'
import { hasOnlyArrived, isUntouched, runsOn } from '../guard-engine/history/gate.ts'
import { callLabel } from '../guard-engine/history/protection.ts'
import { sumOf } from '../guard-engine/history/session.ts'
import { printable } from '../guard-engine/printable.ts'
import { stashRef } from '../guard-engine/project/command-sources.ts'
import { fewerTests, movedCommands, weakeningKey, weakenings } from '../guard-engine/tests/weakenings.ts'
import { sha256 } from '../io/sha256.ts'
import type { Rule, RuleAnswer, Scene } from './contract.ts'
import { sessionSummary } from './sum-up.ts'

/**
 * Refuses a stop while the tree has changed and is not verified. After a limit of refusals in one prompt the turn ends, and the ledger
 * records that it ended unverified.
 */
export const completionGate: Rule = {
  name: 'completion-gate',
  on: ['session_start', 'prompt', 'subagent_start', 'stop', 'subagent_stop'],
  wants,
  judge,
}

const maxWeakened = 50

function wants({
  event,
  history,
  settings,
  traits,
  world,
  nowMs,
}: Omit<Scene, 'facts'>): readonly FactName[] {
  const { gate } = history
  if (!settings.checklist.enabled) return []
  switch (event.kind) {
    case 'session_start':
      return gate.baseTree === null ? ['tree', 'project', 'branches'] : []
    case 'prompt':
      return !event.synthetic && (gate.settled === true || gate.baseTree === null)
        ? ['tree', 'project', 'branches']
        : []
    case 'subagent_start':
      return ['tree']
    case 'stop':
    case 'subagent_stop':
      if (isNoEnd(event, { history, settings, nowMs })) return []
      // git is asked again, because no answer would count as silence.
      if (gate.settled === true && (gate.usedGit ?? gate.copies ?? []).length > 0)
        return ['tree', 'project', 'branches']
      if (gate.settled === true) return claimsAllDone(event.lastMessage) ? ['tree', 'project'] : []
      return [
        'tree',
        'project',
        'tests',
        'changes',
        'branches',
        ...(mayRunItself({ event, settings, traits, world }) ? (['verify'] as const) : []),
      ]
    default:
      return []
  }
}

function mayRunItself(scene: Pick<Scene, 'event' | 'settings' | 'traits' | 'world'>): boolean {
  const { verify } = scene.settings.checklist
  return verify === 'self' || (verify === 'when_unclear' && hasOurRights(scene))
}

/** What the guard ran for this stop, because the agent's runs left a doubt. */
function ranInDoubt({ facts, settings }: Pick<Scene, 'facts' | 'settings'>): readonly string[] {
  return settings.checklist.verify === 'self' ? [] : facts.verify.map(({ command }) => command)
}

type Stop = HookEvent & { readonly kind: 'stop' | 'subagent_stop' }

function judge(scene: Scene): RuleAnswer | null {
  const { event, history, settings, facts } = scene
  if (event.kind !== 'stop' && event.kind !== 'subagent_stop') return null
  if (!settings.checklist.enabled) return null
  if (isNoEnd(event, scene)) return waiting(scene, event)
  if (isOnlyTalk(scene, event))
    return putAway(scene, event) ?? falseClaim(scene, event) ?? noted(scene, {}, givenUp(scene))
  const { tree } = facts
  if (tree === null) return broken(event, 'the working tree could not be fingerprinted')
  if (history.gate.waived.includes(tree)) return ended(event, 'WAIVED', tree, 'a person waived this tree')
  if (hasOnlyArrived(history.gate, facts.branches)) {
    const end = ended(event, 'WAIVED', tree, 'the changes are commits that the session did not make')
    return putAway(scene, event) ?? falseClaim(scene, event) ?? withNotes(end, testsSeen(scene))
  }
  const fault = facts.verify.find(({ infra }) => infra)
  const own = ownRuns(scene)
  if (fault !== undefined)
    return withNotes(broken(event, `${fault.command}: ${fault.notCounted ?? 'it did not run'}`), own)
  return withNotes(decideEnd(scene, event, tree), own)
}

/** A subagent or a check is still running, or this is the agent's own summarizer. */
function isNoEnd(event: Stop, scene: Pick<Scene, 'history' | 'settings' | 'nowMs'>): boolean {
  if (event.background || (event.kind === 'subagent_stop' && event.agentType === '')) return true
  return runningCheck(event, scene) !== null
}

/**
 * A check of the project in the background whose time is not over: it is waited for as long as one that the guard runs. A process that does
 * not end by itself, or that waits first, is none.
 */
function runningCheck(
  { processes = [] }: Stop,
  { history, settings, nowMs }: Pick<Scene, 'history' | 'settings' | 'nowMs'>,
): string | null {
  const limitMs = settings.checklist.verificationTimeoutSeconds * 1_000
  const known = processes.length === 0 ? [] : knownCommands({ history, settings })
  const checks = [...known.map(({ command }) => command), 'guard verify']
  const isCheck = (process: string): boolean =>
    !neverEnds.test(process) &&
    (kindOfCommand(process) !== 'other' || checks.some((command) => process.includes(command)))
  const began = (process: string): number => {
    const label = callLabel({ command: process, paths: [], tool: '' })
    const call = history.calls.recent.findLast((past) => past.label === label && past.began !== undefined)
    return Date.parse(call?.began ?? '') || 0
  }
  return processes.find((process) => isCheck(process) && nowMs - began(process) < limitMs) ?? null
}

const neverEnds =
  /(?:^|[\s;&|(])(?:sleep|watch|watchexec|nodemon|while|until|for|inotifywait|entr|wait)(?=$|[\s;])|\s--(?:watch(?:-?all)?|ui|hot|continuous|looponfail)(?!=false)(?=$|[\s=;])|[\s:_-](?:watch|dev|serve)(?=$|[\s;])|\b(?:tsc|mocha|ava|vitest|jest|pyright)\s(?:.*\s)?-w(?=$|[\s;])|\btail\s+-[fF]/i

/** Says once per command that this stop is not judged, because the user may take it for the end. */
function waiting(scene: Scene, event: Stop): RuleAnswer | null {
  const check = event.background ? null : runningCheck(event, scene)
  const about = `waits:${sha256(check ?? '').slice(0, 16)}`
  if (check === null || scene.history.gate.settled === true || scene.history.session.warned.includes(about))
    return null
  const notice = `Gantry guard: not judged yet, because \`${check.slice(0, 80)}\` still runs in the background. After ${scene.settings.checklist.verificationTimeoutSeconds} s it counts as not run.`
  return { notice, remember: [{ kind: 'warned', about }] }
}

/** Nothing happened that needs verification. */
function isOnlyTalk({ history, facts }: Scene, event: Stop): boolean {
  const { gate, edits, calls } = history
  if (gate.settled === true) return true
  if (facts.tree !== null && isUntouched(gate, facts.tree)) return true
  if (facts.tree !== null && facts.tree === gate.baseTree) return false
  if (event.kind === 'subagent_stop' && event.agentId !== null) {
    const began = Object.hasOwn(gate.subagentTrees, event.agentId) ? gate.subagentTrees[event.agentId] : null
    if (facts.tree !== null && facts.tree === began) return true
  }
  const mayHaveChanged =
    Object.keys(edits.byAgent).length > 0 || calls.recent.some(({ action }) => action !== 'read')
  return gate.baseTree === null && !mayHaveChanged
}

/** The tree is as before, because the work is on a branch that is not checked out, and nothing has verified it. */
function putAway(scene: Scene, event: Stop): RuleAnswer | null {
  const found = putAwayWork(scene)
  if (event.kind !== 'stop' || (found.branches.length === 0 && !found.isGitSilent)) return null
  return refusedOrCapped(scene, event, scene.facts.tree, { ...nothingBlocks, ...found }, [])
}

/** Nothing was done, and the agent reports that no task is left while the plan has open ones. */
function falseClaim(scene: Scene, event: Stop): RuleAnswer | null {
  const plan = openPlan(scene)
  if (plan === null || !plan.isClaimedDone) return null
  return refusedOrCapped(scene, event, scene.facts.tree, { ...nothingBlocks, plan }, [])
}

const nothingBlocks: Blockers = {
  commands: [],
  plan: null,
  nothingKnown: false,
  required: [],
  isGreen: false,
  untested: [],
  branches: [],
  isGitSilent: false,
  change: null,
  spared: [],
  missing: [],
  failedBefore: [],
}

function decideEnd(scene: Scene, event: Stop, tree: string): RuleAnswer {
  const { history, settings } = scene
  const found = findBlockers(scene, tree)
  const blockers = settings.checklist.tdd === 'require' ? found : { ...found, untested: [] }
  const weakened = settings.checklist.requireTestsPass ? namedWeakenings(scene) : []
  const fresh = refusable(weakened, history)
  const isOpen = blockerSummary(blockers).length > 0 || fresh.length > 0
  const answer = isOpen
    ? refusedOrCapped(scene, event, tree, blockers, weakened)
    : passed(scene, event, tree, found, weakened)
  return withSideNotes(scene, answer.refuse === undefined ? summedUp(scene, event, answer) : answer, found)
}

/** Commits that the session gave up. That may have been the plan, so they are only named. */
function givenUp({ facts }: Scene): readonly SideNote[] {
  return (facts.branches?.unverified ?? [])
    .filter(({ isGivenUp }) => isGivenUp === true)
    .map(({ commit, file }) => ({
      about: `given up:${commit}`,
      text: `A commit of this session was given up and is in no branch: ${commit.slice(0, 10)}, which changes ${printable(file, 200)}.`,
    }))
}

/** When the guard denied, refused or noticed something since the last end, this one says what happened in the session. */
function summedUp({ history, facts }: Scene, event: Stop, answer: RuleAnswer): RuleAnswer {
  // Another rule may refuse this stop because of them.
  const isUnseen = history.protection.unseen.some(({ by }) => by !== null)
  const isNew = sumOf(history.session) > (history.session.summedUp ?? 0) && !isUnseen
  const end = answer.remember?.find((note) => note.kind === 'ended')?.state
  const own = facts.verify.map((run) => [run.command, { ...run, by: 'guard' as const }] as const)
  const byCommand = { ...history.evidence.byCommand, ...Object.fromEntries(own) }
  const all = { ...history, evidence: { ...history.evidence, byCommand } }
  const line = isNew && event.kind === 'stop' ? sessionSummary(all, end) : null
  if (line === null) return answer
  return { ...answer, notice: answer.notice === undefined ? line : `${answer.notice}\n${line}` }
}

function refusedOrCapped(
  scene: Scene,
  event: Stop,
  tree: string | null,
  blockers: Blockers,
  weakened: readonly Weakening[],
): RuleAnswer {
  const { history, settings } = scene
  const { gate } = history
  const fresh = refusable(weakened, history)
  const words = blockerSummary(blockers)
  const refused = Object.hasOwn(gate.refusals, who(event)) ? (gate.refusals[who(event)] ?? 0) : 0
  const { maxRefusals } = settings.checklist
  const [away] = blockers.branches
  const isOnce =
    blockers.nothingKnown ||
    blockers.isGitSilent ||
    away?.branch === stashRef ||
    away?.worktree !== undefined ||
    away?.isCopy === true ||
    failsInNewTests(blockers)
  const isAskedOnce = isOnce && words.length === 1 && fresh.length === 0
  const bound = isAskedOnce ? Math.min(1, maxRefusals) : maxRefusals
  if (refused >= bound) {
    const open = [...words, ...weakened.map(({ text }) => `weakened: ${text}`)]
    return ended(
      event,
      'CAPPED',
      tree,
      open.join('; ') || 'the limit of refusals is reached',
      cappedNotice(refused, open),
    )
  }
  return {
    refuse: refusalText({
      blockers,
      weakened: fresh.map(({ text }) => text),
      idle: idleCommands({ history, settings, project: scene.facts.project }).map(({ command }) => command),
      number: refused + 1,
      of: bound,
      before: gate.refusedFor?.[who(event)] ?? null,
      traits: scene.traits,
      root: event.root,
      isSelf: settings.checklist.verify === 'self',
      program: scene.world.program?.() ?? null,
    }),
    remember: [
      {
        kind: 'refused_stop',
        blockers: [...words, ...fresh.map(({ text }) => `weakened: ${text}`)],
        agentId: event.agentId,
      },
      ...fresh.map(({ key }): Note => ({ kind: 'warned', about: key })),
    ],
  }
}

interface SideNote {
  readonly about: string
  readonly text: string
}

/** What the user should know once: checks that cannot run here, commits that were given up, and, with `tdd: warn`, changes without a failing test before them. */
function withSideNotes(scene: Scene, answer: RuleAnswer, found: Blockers): RuleAnswer {
  const { missing, untested } = found
  const notes = [
    ...missing.map(({ command, tool }) => ({
      about: `missing:${tool}`,
      text: `Not checked: \`${command}\`, because ${tool} is not installed.`,
    })),
    ...givenUp(scene),
    ...(scene.settings.checklist.tdd === 'warn' && untested.length > 0
      ? [
          {
            about: `tdd:${sha256(untested.join()).slice(0, 16)}`,
            text: `No test failed before the change of ${untested.slice(0, 3).join(', ')} (\`middleware.pre_completion_checklist.tdd: warn\` in harness.json).`,
          },
        ]
      : []),
  ]
  return noted(scene, answer, notes) ?? answer
}

/** null when every note was given before. */
function noted({ history }: Scene, answer: RuleAnswer, notes: readonly SideNote[]): RuleAnswer | null {
  const fresh = notes.filter(({ about }) => !history.session.warned.includes(about))
  if (fresh.length === 0) return null
  const notice = [
    ...(answer.notice === undefined ? [] : [answer.notice]),
    ...fresh.map(({ text }) => `Gantry guard: ${text}`),
  ]
  const warned = fresh.map(({ about }): Note => ({ kind: 'warned', about }))
  return { ...answer, notice: notice.join('\n'), remember: [...(answer.remember ?? []), ...warned] }
}

interface Weakening {
  readonly text: string
  readonly key: string
  /** The user asked for it, so it is only named. */
  readonly isAsked: boolean
}

/** Each is refused once. */
function refusable(weakened: readonly Weakening[], { session }: Scene['history']): readonly Weakening[] {
  return weakened.filter(({ key, isAsked }) => !isAsked && !session.warned.includes(key))
}

function namedWeakenings({ history, facts }: Scene): readonly Weakening[] {
  const own = Object.fromEntries(facts.verify.map((run) => [run.command, { ...run, by: 'guard' as const }]))
  const evidence = { ...history.evidence, byCommand: { ...runsOn(history.evidence, facts.tree), ...own } }
  const texts = weakenings(history.evidence.tests, facts.tests, evidence)
  const fewer = fewerTests(evidence, facts.tests)
  // Deleted tests explain why fewer run.
  const isExplained = texts.some((text) => /\b(?:was deleted|was moved|tests?, before)\b/.test(text))
  const { tamed = [], obsolete = [] } = facts.changes?.[history.gate.baseTree ?? ''] ?? {}
  return [...texts, ...(isExplained ? [] : fewer), ...tamed, ...noLongerDeclared(history, facts)]
    .slice(0, maxWeakened)
    .map((text) => ({ text, key: weakeningKey(text), isAsked: wasAskedFor(text, history.gate, obsolete) }))
}

function wasAskedFor(
  weakening: string,
  { toRemove = [] }: Scene['history']['gate'],
  obsolete: readonly string[],
): boolean {
  const [, deleted, fewer, skipped] =
    /^"(.+)" with \d+ tests? was deleted$|^"(.+)" has \d+ (?:tests?|assertions?), before it had \d+$|^"(.+)" has \d+ skipped/.exec(
      weakening,
    ) ?? []
  return (
    obsolete.includes(deleted ?? fewer ?? '') ||
    (deleted !== undefined && isTestOf(deleted, toRemove)) ||
    isNamedTest(fewer ?? skipped ?? '', toRemove)
  )
}

/** Checks that were written down when the session began. They are still demanded in it, but not in the next one. */
function noLongerDeclared(
  { session, evidence }: Scene['history'],
  { project, tests }: Scene['facts'],
): readonly string[] {
  if (project === null) return []
  const moved = movedCommands(evidence.tests, tests)
  const now = new Set(project.commands.map(({ command }) => command))
  return session.declared
    .filter(({ explicit, command }) => explicit && !now.has(command) && !moved.has(command))
    .map(({ source, command }) => `${source} no longer declares "${command}"`)
}

function passed(
  scene: Scene,
  event: Stop,
  tree: string,
  blockers: Blockers,
  weakened: readonly Weakening[],
): RuleAnswer {
  const { required, isGreen, failedBefore, spared, change } = blockers
  const weak = weakened.map(({ text }) => text)
  if (failedBefore.length > 0) {
    const lines = failedBefore.map(
      ({ command, failures }) => `\`${command}\`: ${failures.slice(0, 5).join(', ') || 'the same error'}`,
    )
    const why = `fails as before the session: ${lines.join('; ')}`
    const notice = `Gantry guard: not verified, but nothing new fails. These failed before the session too:\n${lines.map((line) => `- ${line}`).join('\n')}`
    return ended(event, 'WAIVED', tree, why, notice)
  }
  const names = required.map(({ command }) => command).join(', ')
  if (!isGreen && required.length > 0 && scene.history.gate.noRuns === true) {
    const notice = `Gantry guard: not verified, because you asked to run no checks: ${names}`
    return ended(event, 'WAIVED', tree, 'the user asked to run no checks', notice)
  }
  if (!isGreen) {
    const isHarmless =
      change !== null && scene.settings.checklist.requireVerification && required.length === 0
    const why =
      isHarmless && blockers.missing.length === 0
        ? `no check is needed for ${namedFiles(change)}: ${spared[0]?.why ?? (change.isCode ? 'no check is known, and no source changed' : 'only documentation or comments changed')}`
        : required.length === 0 && blockers.missing.length > 0
          ? `the programs of the checks are not installed: ${blockers.missing.map(({ tool }) => tool).join(', ')}`
          : 'the settings do not ask for a green run'
    return ended(event, 'WAIVED', tree, why)
  }
  const why = [
    `green for this tree: ${names}`,
    ...spared.map(({ command, why: reason }) => `not needed: ${command} (${reason})`),
    ...weak.map((text) => `weakened: ${text}`),
  ].join('; ')
  const list = weak.map((text) => `- ${text}`).join('\n')
  if (weakened.some(({ text, isAsked }) => !isAsked && isLess(text))) {
    const notice = `Gantry guard: green, but not verified, because the checks were weakened:\n${list}\nLater work is compared with these checks. If they are wrong, ask for them back.`
    return withNotes(ended(event, 'CAPPED', tree, why, notice), testsSeen(scene))
  }
  const own = ranInDoubt(scene).map((command) => `\`${command}\``)
  const lines = [
    ...(weak.length === 0 ? [] : [`Gantry guard: verified, but the tests were weakened.\n${list}`]),
    ...(own.length === 0
      ? []
      : [
          `Gantry guard: ran ${own.join(', ')} itself, because no run of the agent showed how it ends: green.`,
        ]),
  ]
  const notice = lines.length === 0 ? undefined : lines.join('\n')
  return withNotes(ended(event, 'VERIFIED', tree, why, notice), testsSeen(scene))
}

/** Fewer tests or another check. Fewer assertions may be a tidier test, but a test file without any checks nothing. */
function isLess(weakening: string): boolean {
  return !/has [1-9]\d* assertions?, before it had \d+$/.test(weakening)
}

/** Later changes of the tests are compared with this state. */
function testsSeen({ facts, history }: Scene): readonly Note[] {
  const { tests } = facts
  if (tests === null) return []
  const isKnown =
    history.evidence.testsGreen && JSON.stringify(history.evidence.tests) === JSON.stringify(tests)
  return isKnown ? [] : [{ kind: 'tests_seen', inventory: tests, green: true }]
}

/** Records the gate's own runs as evidence. */
function ownRuns({ facts }: Scene): readonly Note[] {
  const before = (facts.atStart ?? []).map(
    (evidence): Note => ({ kind: 'evidence', evidence, by: 'guard', callId: null }),
  )
  const runs = facts.verify.map((run): Note => {
    const { notCounted, infra: _, ...evidence } = run
    return notCounted === undefined
      ? { kind: 'evidence', evidence, by: 'guard', callId: null, alone: true }
      : { kind: 'no_evidence', command: run.command, why: notCounted }
  })
  return [...before, ...runs]
}

function broken(event: Stop, why: string): RuleAnswer {
  const notice = `Gantry guard: this stop could not be judged (${why}). It counts as INFRA, not as verified.`
  return ended(event, 'INFRA', null, why, notice)
}

function ended(event: Stop, state: EndState, tree: string | null, why: string, notice?: string): RuleAnswer {
  // A subagent answers only for its own part, so the main thread is checked for the same tree again.
  const base = event.kind === 'stop' ? tree : null
  const note: Note = { kind: 'ended', state, tree: base, why: why.slice(0, 2_000) }
  return { ...(notice !== undefined && { notice }), remember: [note] }
}

function cappedNotice(refused: number, open: readonly string[]): string {
  const times = counted(refused, 'refusal')
  const list = open.slice(0, 12).map((each) => `- ${each}`)
  return `Gantry guard: CAPPED after ${times}. This turn ends unverified:\n${list.join('\n')}`
}

function withNotes(answer: RuleAnswer, notes: readonly Note[]): RuleAnswer {
  return notes.length === 0 ? answer : { ...answer, remember: [...notes, ...(answer.remember ?? [])] }
}

function who(event: Stop): string {
  return event.agentId ?? 'main'
}
