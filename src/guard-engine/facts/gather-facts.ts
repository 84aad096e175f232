import { GantryError } from '../../core/error.ts'
import type { HookEvent } from '../../core/hook-event.ts'
import type { FactName, Facts, History } from '../contract.ts'
import type { Settings } from '../settings/settings.ts'
import { noFacts } from './no-facts.ts'

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
  if (wanted.has('edited')) facts.edited = await lookAtEdited(request)
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

async function lookAtEdited({ event }: FactRequest): Promise<Facts['edited']> {
  const { editedFiles } = await import('./edited-files.ts')
  return editedFiles(event)
}

async function lookAtTests(request: FactRequest, project: Facts['project']): Promise<Facts['tests']> {
  const look = await import('../tests/look-at-tests.ts')
  const { knownCommands } = await import('../evidence/declared-commands.ts')
  return look.lookAtTests(request.root, knownCommands({ ...request, project }))
}

/** null as long as nothing was sealed: then nothing can be told from before. */
async function lookAtSeal({ history }: FactRequest): Promise<Facts['seal']> {
  if (history.gate.sealed === null) return null
  const look = await import('../seal/look-at-seal.ts')
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
  const verification = await import('../verify/run-verification.ts')
  return verification.runVerification({
    root,
    commands,
    env,
    timeoutMs: settings.checklist.verificationTimeoutSeconds * 1000,
    tree: () => lookAtTree(request),
  })
}
