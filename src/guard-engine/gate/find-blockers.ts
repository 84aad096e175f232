import { type Evidence, newFailures } from '../../core/evidence.ts'
import type { HookEvent } from '../../core/hook-event.ts'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { platform } from '../../io/host.ts'
import type { Scene } from '../../rules/contract.ts'
import type {
  BranchFacts,
  DeclaredCommand,
  EvidenceHistory,
  Facts,
  History,
  PastCall,
  PlanFacts,
  PlanScope,
  ProjectFacts,
  TreeChange,
} from '../contract.ts'
import { type CommandStatus, commandStatus, partsOf } from '../evidence/command-status.ts'
import { whyHollow } from '../evidence/hollow-definition.ts'
import { requiredCommands } from '../evidence/required-commands.ts'
import { gitUses, hasTicked, isGreenRun, isUntouched, runsOn } from '../history/gate.ts'
import { planCommandSource, stashRef } from '../project/command-sources.ts'
import type { Settings } from '../settings/settings.ts'
import { movedCommands } from '../tests/weakenings.ts'
import { namedFiles } from './change-influence.ts'
import { claimsAllDone } from './plan-scope.ts'
import { untestedSources } from './untested-sources.ts'

export interface Blockers {
  /** Required commands that are not green. */
  readonly commands: readonly CommandStatus[]
  readonly plan: OpenPlan | null
  /** Verification is required, but no command is known. */
  readonly nothingKnown: boolean
  /** The commands that count for this change. */
  readonly required: readonly DeclaredCommand[]
  /** Every required command has a green run for this tree, whether or not the settings require it. */
  readonly isGreen: boolean
  /** Changed sources without a test that failed before the change. Empty unless `tdd` is on. */
  readonly untested: readonly string[]
  /** Commits of this session that are not in the tree and that no green run has seen. */
  readonly branches: BranchFacts['unverified']
  /** git did not answer, so such commits were not looked for. */
  readonly isGitSilent: boolean
  /** What changed since the base; null when unknown. */
  readonly change: TreeChange | null
  /** Not required: commands that the change cannot influence, and commands whose program is not installed. */
  readonly spared: readonly { readonly command: string; readonly why: string }[]
  readonly missing: readonly { readonly command: string; readonly tool: string }[]
  /** Red with failures that were there before the session. */
  readonly failedBefore: readonly { readonly command: string; readonly failures: readonly string[] }[]
}

export interface OpenPlan extends PlanFacts {
  /** Tasks that were asked for and those of them that are done; null for the whole plan. */
  readonly asked: { readonly tasks: number; readonly done: number } | null
  /** The agent reported that no task is left. */
  readonly isClaimedDone: boolean
}

/** What prevents a verified end for the current tree. */
export function findBlockers(scene: Scene, tree: string): Blockers {
  const { history, settings, facts } = scene
  const { requireVerification, requireTestsPass } = settings.checklist
  const change = changeSinceBase(scene)
  const moved = movedCommands(history.evidence.tests, facts.tests)
  const all = requiredCommands({ history, settings, project: facts.project }).filter(
    ({ command }) => !moved.has(command),
  )
  const evidence = currentEvidence(scene, tree)
  const { spared, missing, ...asked } = demanded(all, { history, project: facts.project, change })
  // Where no check is known, the agent's own green tests are the check.
  const own = all.length > 0 ? [] : Object.values(evidence.byCommand).filter((run) => isProven(run, tree))
  const required = [
    ...asked.required,
    ...own.map(({ command, kind }) => ({ command, kind, source: 'the session', explicit: false })),
  ]
  const states = required.map((declared) => {
    const status = inPackages(commandStatus(declared, evidence, tree), { evidence, tree, change })
    return explained(undermined(status, scene, evidence), scene, evidence)
  })
  const atStart = Object.fromEntries((facts.atStart ?? []).map((run) => [run.command, run]))
  const before = { ...history.evidence, atStart: { ...history.evidence.atStart, ...atStart } }
  const failedBefore = states.flatMap((status) => oldFailure(status, evidence, before))
  const isOld = ({ declared }: CommandStatus): boolean =>
    failedBefore.some(({ command }) => command === declared.command)
  const isKnown = ({ declared, kind }: CommandStatus): boolean =>
    kind === 'red' && Object.hasOwn(before.atStart, declared.command)
  const told = states.map((status) => (isKnown(status) ? { ...status, isNew: true as const } : status))
  return {
    commands: told.filter((status) => {
      if (status.kind === 'green' || isOld(status)) return false
      return status.kind === 'missing' || status.kind === 'stale'
        ? requireVerification && history.gate.noRuns !== true
        : requireTestsPass
    }),
    plan: openPlan(scene),
    // Without checks, pages, styles and configuration are like documentation.
    nothingKnown:
      requireVerification &&
      all.length + own.length === 0 &&
      (change === null || change.tests || change.sources.length > 0),
    required,
    isGreen: required.length > 0 && states.every(({ kind }) => kind === 'green'),
    untested: settings.checklist.tdd === 'off' ? [] : untestedSources(scene, tree, required),
    ...putAwayWork(scene),
    change,
    spared,
    missing,
    failedBefore,
  }
}

function isProven({ kind, exitCode, executed = 0, failed = 0, treeHash }: Evidence, tree: string): boolean {
  return kind === 'test' && exitCode === 0 && executed > 0 && failed === 0 && treeHash === tree
}

/** Only what this session did: the rest may be the work of a person or of another session. */
export function putAwayWork({ facts, history, settings }: Scene): Pick<Blockers, 'branches' | 'isGitSilent'> {
  if (!settings.checklist.requireVerification) return { branches: [], isGitSilent: false }
  const { usedGit = [], heads } = history.gate
  const calls = history.calls.recent.filter(({ action }) => action === 'shell')
  const isIn = ({ label, place = '' }: PastCall, worktree: string): boolean =>
    `${label} ${place}`.includes(worktree)
  const checks = [...history.session.declared.map(({ command }) => command), 'guard verify']
  const isCheck = ({ label, outcome }: PastCall): boolean =>
    outcome === 'success' &&
    (kindOfCommand(label) !== 'other' || checks.some((command) => label.includes(command)))
  const branches = (facts.branches?.unverified ?? []).filter(
    ({ branch, isOwn, isGivenUp, worktree, isCopy }) => {
      if (isCopy === true) return true
      if (branch === stashRef) return usedGit.includes('stash')
      if (isOwn === true) return isGivenUp !== true
      // A stash can become a branch.
      if (usedGit.length === 0) return false
      // Other programs keep refs of their own.
      if (branch.startsWith('refs/')) return calls.some(({ label }) => label.includes(branch))
      if (worktree === undefined) return true
      const there = calls.filter((call) => isIn(call, worktree))
      return there.some(({ label }) => gitUses(label).includes('commit')) && !there.some(isCheck)
    },
  )
  const isGitSilent = heads !== undefined && facts.branches === undefined && usedGit.length > 0
  return { branches, isGitSilent }
}

/** null when unknown, or when a task was ticked off, which is a claim about the whole project. */
function changeSinceBase({ history: { gate }, facts }: Pick<Scene, 'history' | 'facts'>): TreeChange | null {
  if (gate.baseTree === null || hasTicked(gate)) return null
  return facts.changes?.[gate.baseTree] ?? null
}

/** Which of the required commands count: those that the change can influence and that can run here. */
function demanded(
  all: readonly DeclaredCommand[],
  known: {
    readonly history: History
    readonly project: ProjectFacts | null
    readonly change: TreeChange | null
  },
) {
  const required: DeclaredCommand[] = []
  const spared: { command: string; why: string }[] = []
  const missing: { command: string; tool: string }[] = []
  for (const declared of all) {
    const { command } = declared
    const why = known.change?.spared[command]
    const tool = missingSinceStart(command, known)
    if (why !== undefined) spared.push({ command, why })
    else if (tool !== null) missing.push({ command, tool })
    else required.push(declared)
  }
  return { required, spared, missing }
}

/** The program of a command that was not installed at the start of the session and is not now. An agent cannot remove it to get around a check. */
export function missingSinceStart(
  command: string,
  { history, project }: { readonly history: History; readonly project: ProjectFacts | null },
): string | null {
  const at = (commands: readonly DeclaredCommand[]): DeclaredCommand | undefined =>
    commands.find((declared) => declared.command === command)
  const then = at(history.session.declared)
  const now = at(project?.commands ?? []) ?? then
  return then?.missing !== undefined && now?.missing !== undefined ? now.missing : null
}

/**
 * The commands the gate runs itself: those that count and that it has not run on this tree. Where runs of the agent count, only what is
 * unclear, and linters that the agent left out although it ran another check. With anything else open, the stop is refused anyway.
 */
export function commandsToVerify(known: KnownFacts): readonly DeclaredCommand[] {
  const { history, settings, tree } = known
  const { waived } = history.gate
  if (tree === null || isUntouched(history.gate, tree) || waived.includes(tree)) return []
  const { required, evidence, change, open } = openChecks({ ...known, tree, verify: [] })
  if (settings.checklist.verify !== 'self') {
    const unclear = open.filter(({ declared }) => isUnclear(declared, { ...known, tree, evidence, change }))
    const isRed = (status: CommandStatus): boolean => isUnknownAtStart(status, known, evidence)
    const isChecked = open.length < required.length || unclear.length > 0 || open.some(isRed)
    const isOurs = (status: CommandStatus): boolean =>
      unclear.includes(status) || (isChecked && isLeftOut(status, known))
    return open.every((status) => isOurs(status) || isRed(status))
      ? open.filter(isOurs).map(({ declared }) => declared)
      : []
  }
  const byCommand = runsOn(ownEvidence(history.evidence), tree)
  // Once for each tree: a second run would end like the first.
  return required.filter(({ command }) => byCommand[command]?.treeHash !== tree)
}

/** Red checks of which it is unknown whether they failed before the session. With anything else open, the stop is refused anyway. */
export function redWithoutStart(
  known: KnownFacts & { readonly tree: string } & Pick<Facts, 'verify'>,
): readonly DeclaredCommand[] {
  const { open, evidence } = openChecks(known)
  const isRed = (status: CommandStatus): boolean => isUnknownAtStart(status, known, evidence)
  return open.every(isRed) ? open.map(({ declared }) => declared) : []
}

function isUnknownAtStart({ declared, kind }: CommandStatus, known: Known, { byCommand }: Proofs): boolean {
  // An error without names may come from a program that the session changed, then and now.
  const isNamed = (byCommand[declared.command]?.failures ?? []).length > 0
  const isSeen = Object.hasOwn(known.history.evidence.atStart ?? {}, declared.command)
  return platform === 'linux' && kind === 'red' && isNamed && !isSeen && isOfUser(declared, known)
}

interface KnownFacts extends Known {
  readonly project: ProjectFacts | null
  readonly tree: string | null
  readonly changes?: Facts['changes']
}

/** The checks that count and that are neither green nor red as before. */
function openChecks(known: KnownFacts & { readonly tree: string } & Pick<Facts, 'verify'>) {
  const { history, settings, tree, project, changes = null, verify } = known
  const change = hasTicked(history.gate) ? null : (changes?.[history.gate.baseTree ?? ''] ?? null)
  const { required } = demanded(requiredCommands(known), { history, project, change })
  const evidence = currentEvidence({ history, settings, facts: { changes, verify } }, tree)
  const open = required
    .map((each) => inPackages(commandStatus(each, evidence, tree), { evidence, tree, change }))
    .filter((each) => each.kind !== 'green' && oldFailure(each, evidence, history.evidence).length === 0)
  return { required, evidence, change, open }
}

type Known = { readonly history: History; readonly settings: Settings }

/** A check that the agent ran as a whole on these files, in one call or in parts. */
function isUnclear(
  declared: DeclaredCommand,
  at: Known & {
    readonly tree: string
    readonly changes?: Facts['changes']
    readonly evidence: Proofs
    readonly change: TreeChange | null
  },
): boolean {
  const { history, tree, changes, evidence, change } = at
  const { unclear = {}, runs = [] } = history.evidence
  const isSame = (ran: string): boolean =>
    ran === tree ||
    changes?.[ran]?.isTidied === true ||
    changes?.[ran]?.spared[declared.command] !== undefined
  const isOpen = ({ command }: DeclaredCommand): boolean => {
    const last = runs.findLast((run) => run.command === command)
    return (
      (unclear[command] !== undefined && isSame(unclear[command])) ||
      (last !== undefined && isGreenRun(last) && isSame(last.treeHash))
    )
  }
  const inPlaces = change?.packages?.[declared.command]?.map((command) => ({ ...declared, command }))
  const parts = inPlaces ?? partsOf(declared)
  const ranInParts =
    parts.some(isOpen) &&
    parts.every((part) => isOpen(part) || commandStatus(part, evidence, tree).kind === 'green')
  return isOfUser(declared, at) && (isOpen(declared) || ranInParts)
}

/** A linter without a run on this tree. It reads the files that the other checks execute. */
function isLeftOut({ declared, kind }: CommandStatus, known: Known): boolean {
  const isOpen =
    kind === 'stale' || (kind === 'missing' && !known.history.evidence.rejected[declared.command])
  return declared.kind === 'lint' && isOpen && isOfUser(declared, known)
}

/** Only checks that no agent wrote: from before the session, or of the user's settings. */
function isOfUser({ command }: DeclaredCommand, { history, settings }: Known): boolean {
  return (
    settings.checklist.verificationCommands.includes(command) ||
    history.session.declared.some((declared) => declared.command === command)
  )
}

/** Without what the agent ran. */
function ownEvidence({ runs = [] }: EvidenceHistory): Proofs & Pick<EvidenceHistory, 'runs'> {
  const own = runs.filter(({ by }) => by !== 'agent')
  return { byCommand: Object.fromEntries(own.map((run) => [run.command, run])), rejected: {}, runs: own }
}

type Proofs = Pick<EvidenceHistory, 'byCommand' | 'rejected'>

/** The evidence including the gate's own runs. A run stays current while only files changed that cannot influence it. */
function currentEvidence(
  {
    history,
    facts,
    settings,
  }: Pick<Scene, 'history' | 'settings'> & { facts: Pick<Facts, 'changes' | 'verify'> },
  tree: string,
): Proofs {
  const proofs = settings.checklist.verify === 'self' ? ownEvidence(history.evidence) : history.evidence
  const isUntouched = ({ command, treeHash }: Evidence): boolean =>
    facts.changes?.[treeHash]?.spared[command] !== undefined
  const byCommand = { ...runsOn(proofs, tree, isUntouched) }
  const rejected = { ...proofs.rejected }
  for (const run of facts.verify) {
    delete rejected[run.command]
    if (run.notCounted === undefined) byCommand[run.command] = { ...run, by: 'guard' }
    else rejected[run.command] = run.notCounted
  }
  for (const [command, run] of Object.entries(byCommand))
    if (isUntouched(run)) byCommand[command] = { ...run, treeHash: tree }
  return { byCommand, rejected }
}

/** A check that only starts those of all packages is green when it is green in every package that the change can influence. */
function inPackages(
  status: CommandStatus,
  { evidence, tree, change }: { evidence: Proofs; tree: string; change: TreeChange | null },
): CommandStatus {
  const { declared, kind } = status
  const packages = change?.packages?.[declared.command]
  if (packages === undefined || (kind !== 'missing' && kind !== 'stale')) return status
  const open = packages
    .map((command) => ({ ...declared, command }))
    .map((each) => commandStatus(each, evidence, tree))
    .filter((each) => each.kind !== 'green')
  if (open.length === 0) return { declared, kind: 'green', text: 'green in every changed package' }
  const red = open.find((each) => each.kind === 'red')
  if (red !== undefined) return { ...red, declared, text: `\`${red.declared.command}\` ${red.text}` }
  const few = open.slice(0, 3).map((each) => `\`${each.declared.command}\``)
  const rest = open.length > few.length ? ' and the other packages that depend on it' : ''
  return { ...status, text: `${status.text}; for this change ${few.join(', ')}${rest} would do` }
}

/** Names the files that made a run stale: of the last runs, the one from which the tree differs least. */
function explained(status: CommandStatus, { facts, history }: Scene, { byCommand }: Proofs): CommandStatus {
  const { command } = status.declared
  const newest = byCommand[command]
  const near = (history.evidence.runs ?? []).filter((run) => run.command === command && run.by === newest?.by)
  const distance = ({ treeHash }: Evidence): number => facts.changes?.[treeHash]?.total ?? Infinity
  const run = near.reduce(
    (best, each) => (best === undefined || distance(each) <= distance(best) ? each : best),
    newest,
  )
  const change = run === undefined ? undefined : facts.changes?.[run.treeHash]
  if (status.kind !== 'stale' || change === undefined || change.files.length === 0) return status
  const text = `stale: ${namedFiles(change)} changed after it ran (it was ${run?.exitCode === 0 ? 'green' : 'red'} then)`
  return { ...status, text }
}

/** A red run whose failures were all there when the session began. */
function oldFailure(
  status: CommandStatus,
  { byCommand }: Proofs,
  { atStart = {}, failedAtStart = {} }: EvidenceHistory,
): Blockers['failedBefore'] {
  const { command } = status.declared
  const [now, then] = [byCommand[command], Object.hasOwn(atStart, command) ? atStart[command] : undefined]
  if (status.kind !== 'red' || now === undefined) return []
  const old = [{ command, failures: now.failures ?? [] }]
  if (then !== undefined && isRed(then) && newFailures(now, then)?.length === 0) return old
  const known = Object.hasOwn(failedAtStart, command) ? (failedAtStart[command] ?? []) : []
  const { error: _, ...part } = now
  // A part tells nothing about failures that the output does not name.
  const seen = { ...part, failures: known, failed: now.failures?.length ?? 0 }
  return newFailures(now, seen)?.length === 0 ? old : []
}

function isRed({ exitCode, failed = 0 }: Evidence): boolean {
  return exitCode !== 0 || failed > 0
}

/** Green, but its definition was changed into one that proves nothing since the last test snapshot. */
function undermined(status: CommandStatus, { history, facts }: Scene, { byCommand }: Proofs): CommandStatus {
  if (status.kind !== 'green') return status
  const { command } = status.declared
  const run = byCommand[command]
  // The build outputs on the disk are not those of a run in a sandbox.
  const isJudged = run?.by === 'verifier' && run.treeHash === facts.tree
  const why = whyHollow(command, history.evidence.tests, facts.tests, isJudged ? 'judged' : null)
  return why === null ? status : { ...status, kind: 'hollow', text: `proves nothing: ${why}` }
}

/** The plan, when it keeps the work open: tasks are left of those that were asked for, or the agent says that none are. */
export function openPlan({ event, facts, history, settings }: Scene): OpenPlan | null {
  const plan = facts.project?.plan ?? history.tasks.plan
  const isWorker = event.kind === 'stop' || /(?:^|:)ralph$/.test(event.agentType ?? '')
  if (!settings.checklist.requirePlanCheck || !isWorker || plan === null || plan.total <= plan.done)
    return null
  const isClaimedDone = isStop(event) && claimsAllDone(event.lastMessage)
  const scope = scopeOf(event, history)
  if (event.kind === 'stop' && isOnlyPlanned({ facts, history }) && !isClaimedDone) return null
  if (scope === null) return { ...plan, asked: null, isClaimedDone }
  const done = Math.max(0, plan.done - scope.doneBefore)
  const isReached = scope.tasks === null || done >= scope.tasks
  if (isReached && !isClaimedDone) return null
  return { ...plan, asked: scope.tasks === null ? null : { tasks: scope.tasks, done }, isClaimedDone }
}

/** The plan was written or changed, and nothing else: no task was begun. */
function isOnlyPlanned({ facts, history: { gate } }: Pick<Scene, 'facts' | 'history'>): boolean {
  const change = facts.changes?.[gate.baseTree ?? '']
  return change?.total === 1 && change.files[0] === planCommandSource && !hasTicked(gate)
}

function isStop(event: HookEvent): event is HookEvent & { readonly kind: 'stop' | 'subagent_stop' } {
  return event.kind === 'stop' || event.kind === 'subagent_stop'
}

/** What the user asked for; for a subagent, what it was started with. */
function scopeOf({ kind, agentType }: HookEvent, { gate }: History): PlanScope | null {
  const own = kind === 'subagent_stop' ? gate.subagentScopes?.[typeName(agentType ?? '')] : undefined
  return own ?? gate.scope ?? null
}

/** Without the name of the plugin. */
function typeName(agentType: string): string {
  return agentType.slice(agentType.lastIndexOf(':') + 1)
}
