import { basename, dirname, join, resolve } from 'node:path'
import { GantryError } from '../../core/error.ts'
import type { HookEvent, ToolCall } from '../../core/hook-event.ts'
import { fileHash } from '../../io/content-hash.ts'
import type { listDirectory } from '../../io/list-directory.ts'
import { changedAtMs, isFile, pathKind } from '../../io/path-kind.ts'
import { sizeOf } from '../../io/read-from.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { removeTree } from '../../io/remove-tree.ts'
import { realPath } from '../../io/resolve-links.ts'
import type { TreeHash } from '../../io/tree-hash.ts'
import type {
  DeclaredCommand,
  EditedFile,
  FactName,
  Facts,
  History,
  MissingHook,
  TreeChange,
  VerificationRun,
} from '../contract.ts'
import { outputDirectories } from '../generated-directories.ts'
import { projectHookFiles, startsGuard } from '../hook-files.ts'
import { ledgerPlace } from '../ledger/ledger-place.ts'
import { shellEditedPaths } from '../loops/shell-edits.ts'
import { controlPattern } from '../protection/protected-index.ts'
import type { Settings } from '../settings/settings.ts'
import { callPaths, callSignature, isEditing, openCall } from '../store-event.ts'
import { hiddenList, type TreeLists } from './tree-changes.ts'

export interface FactRequest {
  readonly wanted: ReadonlySet<FactName>
  readonly event: HookEvent
  /** Real path of the project. */
  readonly root: string
  readonly settings: Settings
  readonly history: History
  readonly env: Readonly<Record<string, string | undefined>>
  readonly guardHome: string
  readonly home: string
  readonly nowMs: number
  /** Real paths of the guard's own files. */
  readonly own: () => readonly string[]
  /** Writes nothing. */
  readonly dry: boolean
  /** Checks the installed hooks, and after a call puts them back; absent when nothing may be written. */
  readonly checkHooks?: HookCheck
  /** Where the files of each tree are kept. */
  readonly trees: string
  /** Does the work once the answer was sent, where that is possible. */
  readonly later: (work: () => void) => void
  /** The ledger has lines that are not the guard's, so its history may be lost. */
  readonly isTampered: boolean
  /** No time is left: the facts found so far are used, and what is found later would be lost. */
  readonly isLate: () => boolean
}

/** With the lists of trees that a dry run must not keep. */
interface Gathering extends FactRequest {
  readonly listed: TreeLists
  /** Reads directories that several facts need. */
  readonly list?: typeof listDirectory
}

/** Given by the installer of the hooks, because the engine does not know their files. */
export interface HookCheck {
  /** Hooks of any project that are gone. */
  notice(root: string): Promise<readonly MissingHook[]>
  /** Puts the hooks of this project back, and adds them to new worktrees. */
  keep(root: string): Promise<readonly MissingHook[]>
}

/** A fact is there as soon as it is known. */
export type GrowingFacts = { -readonly [Name in keyof Facts]: Facts[Name] }

/** Looks up each requested fact once. Code for other facts is not even loaded. */
export async function gatherFacts(facts: GrowingFacts, asked: FactRequest): Promise<void> {
  const { wanted, isLate } = asked
  const isStart = asked.event.kind === 'session_start'
  const list = isStart ? (await import('../../io/list-directory.ts')).listOnce() : undefined
  const request: Gathering = { ...asked, listed: new Map(), ...(list !== undefined && { list }) }
  const wants = (...names: FactName[]): boolean => names.some((name) => wanted.has(name)) && !isLate()
  const hasRun = (asked.history.evidence.runs ?? []).length > 0
  if (asked.event.kind === 'tool_before' && hasRun && !asked.dry && !isLate()) {
    const { keepSource } = await import('./tree-changes.ts')
    for (const path of editedPaths(asked.event)) keepSource(asked.trees, asked.root, path)
  }
  // First, because it may change what git ignores.
  if (wants('hooks')) facts.hooks = await gatherHooks(request)
  let listed: TreeHash | null = null
  const project = async () => {
    if (wants('project')) facts.project = await gatherProject(request, listed)
  }
  const tree = async () => {
    if (wants('tree', 'verify'))
      facts.tree = await gatherTree(request, (found) => {
        listed = found
      })
  }
  const watch = async () => {
    if (wants('protected')) await gatherProtected(facts, request)
  }
  // A start puts no file back, so git may list the tree while the directories are read here.
  await (isStart ? Promise.all([tree(), watch()]) : tree())
  await project()
  Object.assign(facts, await gatherGenerated(request, facts))
  if (wants('changes')) facts.changes = await gatherChanges(request, facts)
  if (wants('branches')) Object.assign(facts, await gatherBranches(request, facts))
  if (wants('verify')) {
    facts.verify = await runVerification(request, facts)
    // Files left by our own runs belong to the tree.
    if (facts.verify.length > 0) {
      facts.tree = await gatherTree(request)
      facts.changes = await gatherChanges(request, facts)
    }
    const atStart = await runOnStart(request, facts)
    if (atStart.length > 0) facts.atStart = atStart
  }
  if (wants('edited')) facts.edited = editedFiles(request.event)
  if (wants('placed')) Object.assign(facts, await gatherPlaced(request))
  if (wants('tests')) facts.tests = await gatherTests(request, facts.project)
  if (wants('tests')) Object.assign(facts, await gatherRunner(request, facts))
  // Until something was sealed there is nothing to compare with.
  const { sealed } = asked.history.gate
  if (wants('seal') && sealed !== null) {
    const { checkSeal } = await import('../seal/seal-files.ts')
    facts.seal = await checkSeal(sealed)
  }
  // After our own runs, which must not change protected files either.
  if (!isStart) await watch()
}

async function gatherProject(
  { event, root, settings, env }: FactRequest,
  tree: TreeHash | null,
): Promise<Facts['project']> {
  const { readProjectFacts } = await import('../project/read-project-facts.ts')
  // Only the start of a session or of a subagent lists the tree.
  const entries = event.kind === 'session_start' || event.kind === 'subagent_start'
  return readProjectFacts(root, settings, { entries, env, tree })
}

/** null when it is not available, for example because a file is not readable. Each rule decides what that means. */
async function gatherTree(
  { event, root, settings, trees, listed, dry, history }: Gathering,
  seen: (tree: TreeHash) => void = () => {},
): Promise<string | null> {
  const { treeFingerprint } = await import('./tree-fingerprint.ts')
  const { readManifest } = await import('./tree-changes.ts')
  const { baseTree } = history.gate
  if (event.kind === 'session_start' && baseTree === null && !dry) removeTree(hiddenList(trees))
  const earlier = baseTree !== null && {
    earlier: { tree: baseTree, records: () => readManifest(trees, baseTree) },
  }
  try {
    return await treeFingerprint(root, settings.state.dir, {
      keepIn: dry ? listed : trees,
      seen,
      hiddenIn: hiddenList(trees),
      written: () => Object.keys(history.edits.files),
      ...earlier,
    })
  } catch (cause) {
    if (cause instanceof GantryError) return null
    throw cause
  }
}

async function gatherGenerated(
  { event, history, trees }: Gathering,
  { tree }: Pick<Facts, 'tree'>,
): Promise<Pick<Facts, 'onlyGenerated'>> {
  const before = event.kind === 'tool_after' ? openCall(event.call, history)?.tree : null
  if (before == null || tree === null || before === tree) return {}
  const { onlyGenerated } = await import('./tree-changes.ts')
  return onlyGenerated(trees, before, tree) ? { onlyGenerated: true } : {}
}

async function gatherTests(request: Gathering, project: Facts['project']): Promise<Facts['tests']> {
  const { inspectTests } = await import('../tests/inspect-tests.ts')
  const { knownCommands } = await import('../evidence/required-commands.ts')
  const { root, home, env, list, history } = request
  const known = knownCommands({ ...request, project })
  const { session, evidence } = history
  const earlier = { ...evidence.tests?.machine?.[known[0]?.command ?? ''] }
  const sinceMs = Date.parse(session.startedAt ?? '')
  return inspectTests(root, known, { home, path: env.PATH ?? '', packages: { earlier, sinceMs } }, list)
}

async function gatherPlaced(request: FactRequest): Promise<Pick<Facts, 'placed'>> {
  const { event, root, home, env, history } = request
  if (event.kind !== 'tool_after' || event.call.action.kind !== 'shell') return {}
  const { placedOutputs } = await import('../tests/build-outputs.ts')
  const { openWorld } = await import('../open-world.ts')
  const { at, cwd = event.cwd } = openCall(event.call, history) ?? {}
  if (at === undefined) return {}
  const world = openWorld({ root, home, env, own: [] })
  const { knownCommands } = await import('../evidence/required-commands.ts')
  const checks = knownCommands(request).map(({ command }) => command)
  const placed = placedOutputs(event.call, { cwd, root, world, checks, sinceMs: Date.parse(at) })
  return Object.keys(placed).length === 0 ? {} : { placed }
}

async function gatherRunner(
  request: FactRequest,
  { tree, placed }: Pick<Facts, 'tree' | 'placed'>,
): Promise<Pick<Facts, 'runner' | 'written'>> {
  const { event, root, home, trees, history } = request
  if (event.kind !== 'tool_after' || event.call.action.kind !== 'shell' || tree === null) return {}
  const { fakeRunner } = await import('../tests/machine-state.ts')
  const { datedBack, idsByPath, readManifest } = await import('./tree-changes.ts')
  const { session, gate, evidence } = history
  const sinceMs = Date.parse(session.startedAt ?? '')
  const runs = (evidence.runs ?? []).slice(-maxCompared)
  const earlier = runs.map(({ treeHash, startedAt }) => ({ tree: treeHash, atMs: Date.parse(startedAt) }))
  if (gate.baseTree !== null) earlier.push({ tree: gate.baseTree, atMs: sinceMs })
  const runner =
    fakeRunner(event.call.action.command, {
      root,
      home,
      sinceMs,
      placed: { ...evidence.placed, ...placed },
    }) ?? datedBack({ root, trees, tree }, earlier)
  const beganMs = Date.parse(openCall(event.call, history)?.at ?? '')
  const { askedSources, compiledOf, momentOf, writtenDuring } = await import('./doubt-of-run.ts')
  const written = writtenDuring(request, tree, beganMs)
  const asked = await askedSources(request, tree)
  const { flagFor, setAround } = await import('../tests/surroundings.ts')
  const { knownCommands } = await import('../evidence/required-commands.ts')
  const checks = knownCommands(request).map(({ command }) => command)
  const when = momentOf(request, beganMs)
  const why = runner ?? compiledOf(request, tree) ?? flagFor(asked, when)
  let listed: ReturnType<typeof idsByPath> | undefined
  const isInTree = (path: string): boolean => {
    listed ??= idsByPath(readManifest(trees, tree) ?? [])
    return listed.has(path)
  }
  const around = setAround(event.call.action.command, checks, asked, { ...when, isInTree })
  return {
    ...(why !== null && { runner: why }),
    ...(written !== null && { written }),
    ...(around !== null && { around }),
  }
}

/** After a call only if a sealed hook file does not start the guard any more or was changed, or the call was about worktrees. */
async function gatherHooks(request: FactRequest): Promise<readonly MissingHook[]> {
  const { event, root, history, checkHooks } = request
  if (checkHooks === undefined) return []
  if (event.kind === 'session_start') return checkHooks.notice(root)
  if (event.kind !== 'tool_after') return []
  const { call } = event
  const text = call.action.kind === 'shell' ? call.action.command : call.tool
  if (/worktree/i.test(text)) return checkHooks.keep(root)
  const { gate, session } = history
  const sealed = (path: string): string | null => gate.sealed?.[path] ?? null
  const expected = projectHookFiles
    .map(([, name]) => `${root}/${name}`)
    .filter((path) => sealed(path) !== null)
  if (!expected.every((path) => startsGuard(readShortText(path, maxHookFile) ?? '')))
    return checkHooks.keep(root)
  const startedMs = Date.parse(session.startedAt ?? '')
  const touched = expected.filter((path) => changedAtMs(path) > startedMs)
  if (touched.length === 0) return []
  const { sealOf } = await import('../seal/seal-files.ts')
  return touched.every((path) => sealOf(path) === sealed(path)) ? [] : checkHooks.keep(root)
}

const maxHookFile = 16 * 1024 * 1024

/** Compares the current tree with the base and with the trees of the evidence. */
async function gatherChanges(
  request: Gathering,
  { project, tree }: Pick<Facts, 'project' | 'tree'>,
): Promise<Readonly<Record<string, TreeChange>> | null> {
  const { root, trees, listed, settings, history } = request
  const { gate, evidence } = history
  const { baseTree } = gate
  if (tree === null || baseTree === null) return null
  const { requiredCommands } = await import('../evidence/required-commands.ts')
  const { treeChanges } = await import('./tree-changes.ts')
  const { packageCheck } = await import('../evidence/package-checks.ts')
  const required = requiredCommands({ ...request, project })
  const packages = Object.values(evidence.byCommand)
    .filter(({ command }) => packageCheck(command) !== null)
    .map(({ command, kind }): DeclaredCommand => ({ command, kind, source: '', explicit: false }))
  const commands = [...required, ...packages]
  const runs = commands.flatMap(({ command }) =>
    (evidence.runs ?? []).filter((run) => run.command === command).slice(-maxCompared),
  )
  const reds = settings.checklist.tdd === 'off' ? [] : (evidence.reds ?? []).map(({ treeHash }) => treeHash)
  const unclear = Object.values(evidence.unclear ?? {})
  return treeChanges({
    root,
    trees,
    listed,
    tree,
    earlier: [baseTree, ...runs.map(({ treeHash }) => treeHash), ...reds, ...unclear].filter(
      (earlier) => earlier !== tree,
    ),
    between: reds.map((red) => [baseTree, red]),
    commands,
    documentation: settings.checklist.documentation,
    toRemove: gate.toRemove ?? [],
    tests: evidence.tests,
  })
}

/** Trees of a command that the current one is compared with. */
const maxCompared = 3

async function gatherBranches(
  request: FactRequest,
  { project, tree }: Pick<Facts, 'project' | 'tree'>,
): Promise<Pick<Facts, 'branches'>> {
  const { root, trees, settings, history, event } = request
  const { heads, headsAt, copies = [] } = history.gate
  const { documentation } = settings.checklist
  const sinceMs = Date.parse(headsAt ?? history.session.startedAt ?? '')
  const { requiredCommands } = await import('../evidence/required-commands.ts')
  const { readBranches } = await import('./put-away-work.ts')
  const { isGreenRun, isUntouched } = await import('../history/gate.ts')
  const greens = (history.evidence.runs ?? []).filter(isGreenRun)
  const required = requiredCommands({ ...request, project })
  const isTested = required.some(({ kind }) => kind !== 'lint')
  // A linter that did not run there is not worth going back to the branch for. A red one is.
  const isGreen = (tree: string): boolean =>
    required.every(({ command, kind }) => {
      const last = (history.evidence.runs ?? []).findLast(
        (run) => run.command === command && run.treeHash === tree,
      )
      return last === undefined ? kind === 'lint' && isTested : isGreenRun(last)
    })
  const branches = await readBranches({
    root,
    tree,
    base: history.gate.baseTree,
    trees,
    before: heads === undefined || event.kind === 'prompt' ? null : { heads, atMs: sinceMs },
    verified: [...new Set(greens.map(({ treeHash }) => treeHash))].filter(isGreen),
    documentation,
  })
  if (branches === null) return {}
  if (copies.length === 0 || tree === null || !isUntouched(history.gate, tree)) return { branches }
  const { keptElsewhere } = await import('./kept-elsewhere.ts')
  const kept = await keptElsewhere({ ...request, tree, commands: copies, sinceMs, documentation })
  return { branches: kept === null ? branches : { ...branches, unverified: [kept, ...branches.unverified] } }
}

/** Stays null when nothing changed since the last look. A new session starts with the files as they are. */
async function gatherProtected(facts: GrowingFacts, request: Gathering): Promise<void> {
  const { event, history, settings, nowMs } = request
  const { watchProtected } = await import('../protection/watch-protected.ts')
  // A look without a message would hide what it found.
  if (request.isLate()) return
  const { enforcement, restore } = settings.fileProtection
  const isBegin = event.kind === 'session_start'
  // A session that is resumed after it was killed has looked at the files before.
  const isAnew = isBegin && event.source !== 'compact' && event.source !== 'resume'
  const killed = isAnew ? await killedCalls(request) : null
  const others = isBegin ? (killed?.labels ?? []) : otherCalls(event, history)
  const also = isAnew ? await trackedOutputs(request) : outputsNamedIn(event)
  const watched = watchProtected({
    ...request,
    also: { paths: also, isEnd: event.kind === 'tool_after' },
    session: event.session,
    anew: isAnew,
    ...(!(history.gate.unlockedUntilMs > nowMs) && { control: Object.keys(history.gate.sealed ?? {}) }),
    ...(killed !== null && { killed }),
    // What happened between calls may be a person's work.
    restores:
      (event.kind === 'tool_after' || (others.length > 0 && !isBegin)) &&
      (restore === 'always' || (restore === 'with_kernel' && enforcement === 'kernel')),
    nowMs,
  })
  const wasWatched = history.protection.isWatched || request.isTampered
  // Between calls a person may have changed what controls the guard. The seal reports it.
  const isInCall = event.kind === 'tool_after' || others.length > 0
  const found = watched.changes.filter(({ pattern }) => isInCall || pattern !== controlPattern)
  const lost = watched.isLost && wasWatched && event.kind !== 'session_start'
  const changes = lost ? [{ path: watched.path, what: 'missing', pattern: '' } as const] : found
  if (changes.length > 0 || watched.isFirst)
    facts.protected = {
      changes,
      others,
      ...(watched.isFirst && { first: true }),
      ...(watched.isFirst && watched.index.isPartial && { partial: true }),
    }
  // Before a command, because the hook after the last one may have missed what a person changed since.
  if (enforcement !== 'kernel' || request.dry || (!isBegin && event.kind !== 'tool_before')) return
  const { prepareKernel } = await import('../protection/kernel-layer.ts')
  const { agent, session } = event
  const anew = isBegin && event.source !== 'compact'
  const { index } = watched
  const kernelOff = await prepareKernel({ ...request, session, agent, index, own: request.own(), anew })
  if (watched.isFirst && kernelOff !== null && facts.protected !== null)
    facts.protected = { ...facts.protected, kernelOff }
}

async function trackedOutputs({ root }: FactRequest): Promise<readonly string[]> {
  const { openRepository } = await import('../../io/git-repository.ts')
  const { gitTimeoutMs } = await import('./tree-changes.ts')
  const repository = await openRepository(root, { timeoutMs: gitTimeoutMs })
  if (repository === null) return []
  const within = outputDirectories.map((name) => `:(glob)**/${name}/**`)
  const { exitCode, stdout } = await repository.run(['ls-files', '-z', '--', ...within], { cwd: root })
  const names = exitCode === 0 ? stdout.toString().split('\0') : []
  return names.filter((name) => name !== '').map((name) => join(root, name))
}

/** Words of a command that are paths into directories that are not entered. Which of them are protected is found out later. */
function outputsNamedIn(event: HookEvent): readonly string[] {
  if (!('call' in event) || event.call.action.kind !== 'shell') return []
  const words = event.call.action.command.split(/[\s'"`;|&<>()=,:{}[\]$!*#\\^+?%@~]+/)
  const isIn = (word: string): boolean => word.split('/').some((part) => outputDirectories.includes(part))
  return [...new Set(words.filter(isIn).map((word) => resolve(event.cwd, word)))].slice(0, maxNamed)
}

const maxNamed = 50

/** The session before this one and its calls that never ended, because it was killed; null when all did. */
async function killedCalls({ guardHome, root, event }: FactRequest) {
  const { newestSessions, readTail } = await import('../ledger/read-ledger.ts')
  const { ledgerSeal } = await import('../ledger/seal-line.ts')
  const { historyFold } = await import('../history/index.ts')
  const own = ledgerPlace(guardHome, root, event.session).session
  const path = newestSessions(guardHome, root).find((each) => each !== own) ?? own
  const { lines } = readTail(path, Math.max(0, sizeOf(path) - maxTailBytes), ledgerSeal(guardHome, path))
  const entries = lines.flatMap((line) => (line.kind === 'entry' ? [line.entry] : []))
  const last = entries.findLast((entry) => entry.kind === 'event')?.event
  if (last === undefined || path === own || !last.kind.startsWith('tool_')) return null
  const labels = otherCalls(event, entries.reduce(historyFold.apply, historyFold.initial))
  const untilMs = Date.parse(entries.at(-1)?.at ?? '') + longestCallMs
  return labels.length === 0 ? null : { session: last.session, labels, untilMs }
}

const maxTailBytes = 256 * 1024

/** Agents end a command that takes longer. */
const longestCallMs = 10 * 60_000

/** Calls of this prompt that have not ended, besides that of the event. */
function otherCalls(event: HookEvent, { calls, protection }: History): readonly string[] {
  const own = event.kind === 'tool_after' ? (event.call.id ?? callSignature(event.call)) : null
  return Object.entries(calls.open).flatMap(([key, { at, label, ended }]) =>
    key === own || ended !== undefined || label === undefined || at <= protection.turnAt ? [] : [label],
  )
}

/** Runs only commands without a green run for this tree. */
async function runVerification(
  request: Gathering,
  { project, tree, changes = null, branches }: Pick<Facts, 'project' | 'tree' | 'changes' | 'branches'>,
): Promise<Facts['verify']> {
  const { root, home, settings, history, event, env, guardHome } = request
  const { commandsToVerify } = await import('../gate/find-blockers.ts')
  const { hasOnlyArrived } = await import('../history/gate.ts')
  if (hasOnlyArrived(history.gate, branches)) return []
  const commands = commandsToVerify({ ...request, project, tree, changes })
  if (commands.length === 0) return []
  const verification = await import('../run-verification.ts')
  const { kernelShell } = await import('../protection/kernel-layer.ts')
  const { doubtOfRun } = await import('./doubt-of-run.ts')
  const sandbox = kernelShell(guardHome, event.session, env)
  const runs = await verification.runVerification({
    root,
    commands,
    ...(sandbox === null ? { env } : { sandbox, env: { ...env, CLAUDE_CODE_SESSION_ID: event.session } }),
    ...(history.evidence.most !== undefined && { most: history.evidence.most }),
    begun: {
      home,
      sinceMs: Date.parse(history.session.startedAt ?? ''),
      placed: history.evidence.placed ?? {},
    },
    timeoutMs: settings.checklist.verificationTimeoutSeconds * 1000,
    tree: () => gatherTree(request),
    doubt: (now, startedMs) => doubtOfRun(request, now, startedMs),
  })
  if (settings.checklist.verify === 'self') return runs
  return runs.map((run) => verification.inDoubt(run, history.evidence.rejected[run.command]))
}

/** Red checks on the files of the start, once in a session. */
async function runOnStart(
  request: Gathering,
  { project, tree, changes = null, verify }: Pick<Facts, 'project' | 'tree' | 'changes' | 'verify'>,
): Promise<readonly VerificationRun[]> {
  const { root, settings, history, event, env, guardHome, trees, dry } = request
  const { startTree, tests } = history.evidence
  if (tree === null || startTree === undefined || startTree === tree || dry) return []
  const { redWithoutStart } = await import('../gate/find-blockers.ts')
  const commands = redWithoutStart({ ...request, project, tree, changes, verify })
  if (commands.length === 0) return []
  const { kernelShell } = await import('../protection/kernel-layer.ts')
  const { runAtStart } = await import('./run-at-start.ts')
  const sandbox = kernelShell(guardHome, event.session, env)
  const timeoutMs = settings.checklist.verificationTimeoutSeconds * 1000
  return runAtStart({
    ...{ root, trees, tree, startTree, commands, timeoutMs, definitions: tests?.definitions ?? {} },
    ...(sandbox === null ? { env } : { sandbox, env: { ...env, CLAUDE_CODE_SESSION_ID: event.session } }),
  })
}

/** The facts when nothing was looked up. */
export const noFacts: Facts = {
  tree: null,
  project: null,
  edited: [],
  verify: [],
  seal: null,
  tests: null,
  protected: null,
}

/** Only the facts that were looked up, for the ledger. The test inventory can be long, and a note stores it when it matters. */
export function storedFacts({ tests: _, ...facts }: Facts): Partial<Facts> {
  const known = Object.entries(facts).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  )
  return Object.fromEntries(known)
}

/** The current state of the files named by an editing tool, or by a command that may have edited them. */
function editedFiles(event: HookEvent): readonly EditedFile[] {
  if (event.kind !== 'tool_after' && event.kind !== 'tool_before') return []
  if (event.kind === 'tool_before' && event.call.action.kind === 'shell') return []
  // Only regular files: reading a pipe, for example, might never end.
  return editedPaths(event).map((path) => ({ path, hash: isFile(path) ? fileHash(path) : null }))
}

/** Of a command only files that exist: a word of it need not be a path. */
function editedPaths({ call, cwd }: HookEvent & { readonly call: ToolCall }): readonly string[] {
  const { action } = call
  const paths =
    action.kind === 'shell'
      ? shellEditedPaths(action.command)
          .map((word) => realPath(resolve(cwd, word)))
          .filter(isFile)
      : isEditing(action.kind)
        ? callPaths(call, cwd).map(realFilePath)
        : []
  return [...new Set(paths)]
}

/** A missing file is identified by the real path of its directory. */
function realFilePath(path: string): string {
  return pathKind(path) === null ? join(realPath(dirname(path)), basename(path)) : realPath(path)
}
