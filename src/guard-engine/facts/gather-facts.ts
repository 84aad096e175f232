import { basename, dirname, join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import type { HookEvent } from '../../core/hook-event.ts'
import { fileHash } from '../../io/content-hash.ts'
import { isFile, pathKind } from '../../io/path-kind.ts'
import { realPath } from '../../io/resolve-links.ts'
import type { EditedFile, FactName, Facts, History } from '../contract.ts'
import type { Settings } from '../settings/settings.ts'
import { callPaths } from '../store-event.ts'

export interface FactRequest {
  readonly wanted: ReadonlySet<FactName>
  readonly event: HookEvent
  /** Real path of the project. */
  readonly root: string
  readonly settings: Settings
  readonly history: History
  readonly env: Readonly<Record<string, string | undefined>>
}

/** What rules asked for, each looked up once. What nobody asked for is not even loaded. */
export async function gatherFacts(request: FactRequest): Promise<Facts> {
  const { wanted } = request
  if (wanted.size === 0) return noFacts
  const facts: { -readonly [Name in keyof Facts]: Facts[Name] } = { ...noFacts }
  if (wanted.has('project')) facts.project = await lookAtProject(request)
  if (wanted.has('tree') || wanted.has('verify')) facts.tree = await lookAtTree(request)
  if (wanted.has('verify')) {
    facts.verify = await runVerification(request, facts)
    // What our own runs leave behind belongs to the tree.
    if (facts.verify.length > 0) facts.tree = await lookAtTree(request)
  }
  if (wanted.has('edited')) facts.edited = editedFiles(request.event)
  if (wanted.has('tests')) facts.tests = await lookAtTests(request, facts.project)
  if (wanted.has('seal')) facts.seal = await lookAtSeal(request)
  return facts
}

async function lookAtProject({ event, root, settings }: FactRequest): Promise<Facts['project']> {
  const look = await import('../project/look-at-project.ts')
  // Only the start of a session or of a subagent tells the tree.
  const entries = event.kind === 'session_start' || event.kind === 'subagent_start'
  return look.lookAtProject(root, settings, { entries })
}

/** null when it cannot be had, a file nobody may read among others: rules know what that means for their event. */
async function lookAtTree({ root, settings }: FactRequest): Promise<string | null> {
  const { treeFingerprint } = await import('./tree-fingerprint.ts')
  try {
    return await treeFingerprint(root, settings.state.dir)
  } catch (cause) {
    if (cause instanceof GantryError) return null
    throw cause
  }
}

async function lookAtTests(request: FactRequest, project: Facts['project']): Promise<Facts['tests']> {
  const look = await import('../tests/look-at-tests.ts')
  const { knownCommands } = await import('../evidence/declared-commands.ts')
  return look.lookAtTests(request.root, knownCommands({ ...request, project }))
}

/** null as long as nothing was sealed: then nothing can be told from before. */
async function lookAtSeal({ history }: FactRequest): Promise<Facts['seal']> {
  if (history.gate.sealed === null) return null
  const look = await import('../seal/seal-files.ts')
  return look.lookAtSeal(history.gate.sealed)
}

/** Only of what has no green run for this tree yet. */
async function runVerification(
  request: FactRequest,
  { project, tree }: Pick<Facts, 'project' | 'tree'>,
): Promise<Facts['verify']> {
  const { root, settings, env } = request
  const { commandsToVerify } = await import('../gate/find-blockers.ts')
  const commands = commandsToVerify({ ...request, project, tree })
  if (commands.length === 0) return []
  const verification = await import('../run-verification.ts')
  return verification.runVerification({
    root,
    commands,
    env,
    timeoutMs: settings.checklist.verificationTimeoutSeconds * 1000,
    tree: () => lookAtTree(request),
  })
}

/** Nothing was looked up. */
export const noFacts: Facts = { tree: null, project: null, edited: [], verify: [], seal: null, tests: null }

/** Only what was looked up, for the ledger. The inventory of tests can be long, and a note keeps it when it matters. */
export function toldFacts({ tests: _, ...facts }: Facts): Partial<Facts> {
  const told = Object.entries(facts).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  )
  return Object.fromEntries(told)
}

/** The files a call of an editing tool names, as they are now. Of a shell nobody can tell. */
function editedFiles(event: HookEvent): readonly EditedFile[] {
  if (event.kind !== 'tool_after' && event.kind !== 'tool_before') return []
  const { kind } = event.call.action
  if (kind !== 'write' && kind !== 'edit' && kind !== 'patch') return []
  const paths = new Set(callPaths(event.call, event.cwd).map(realFilePath))
  // Reading anything but a file, a pipe say, might never end.
  return [...paths].map((path) => ({ path, hash: isFile(path) ? fileHash(path) : null }))
}

/** A file that is gone is still known by where its directory leads. */
function realFilePath(path: string): string {
  return pathKind(path) === null ? join(realPath(dirname(path)), basename(path)) : realPath(path)
}
