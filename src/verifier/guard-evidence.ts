import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import type { DeclaredCommand, Note, TestInventory } from '../guard-engine/contract.ts'
import { whyHollow } from '../guard-engine/evidence/hollow-definition.ts'
import { changedTree } from '../guard-engine/evidence/judge-run.ts'
import { provesNothing } from '../guard-engine/evidence/proves-nothing.ts'
import { knownCommands } from '../guard-engine/evidence/required-commands.ts'
import { hiddenList } from '../guard-engine/facts/tree-changes.ts'
import { treeFingerprint } from '../guard-engine/facts/tree-fingerprint.ts'
import { findRoot, guardHome, ledgerPlace } from '../guard-engine/ledger/ledger-place.ts'
import { appendNote } from '../guard-engine/ledger/open-ledger.ts'
import { latestHistory, newestSessions } from '../guard-engine/ledger/read-ledger.ts'
import { recordedEnvironment } from '../guard-engine/ledger/recorded-environment.ts'
import { readProjectFacts } from '../guard-engine/project/read-project-facts.ts'
import { settingsInForce } from '../guard-engine/settings/settings-in-force.ts'
import { inspectTests } from '../guard-engine/tests/inspect-tests.ts'
import { openRepository } from '../io/git-repository.ts'
import type { ReadAgentFile } from './agent-file.ts'
import { agentFileName, type VerificationDetails, type VerifierResponse } from './contract.ts'
import { evidenceFrom } from './sandbox-document.ts'

export interface EvidencePlace {
  readonly repository: string
  readonly agentFile: ReadAgentFile
  readonly env: Readonly<Record<string, string>>
  /** Whether an agent started this process. Called only when there is evidence to record. */
  readonly beneathAgent: () => Promise<boolean>
}

/** Records evidence of a verification for the guard. */
export interface GuardEvidence {
  /** Environment of the verification: below an agent, programs are searched where they were when its session started. */
  readonly env: Readonly<Record<string, string>>
  /** Records what the steps proved about the declared commands. */
  record(response: VerifierResponse): Promise<RecordedEvidence>
}

export interface RecordedEvidence {
  /** Declared commands with a recorded result. */
  readonly commands: readonly string[]
  /** Why nothing was recorded, for people; null when there is nothing to report. */
  readonly why: string | null
}

/**
 * A step counts for a declared command when it is exactly that command; a pipeline as a whole counts for nothing beyond its steps. An
 * agent could have rewritten agent.yaml, so below an agent only the committed version counts. null when no step is a declared command.
 */
export async function guardEvidence(place: EvidencePlace): Promise<GuardEvidence | null> {
  const { repository, agentFile, env } = place
  if (findRoot(repository) !== repository) return null
  const home = guardHome(env)
  const history = latestHistory(home, repository)
  const read = await settingsInForce({ root: repository, env, userDir: home }, history)
  // With invalid settings the guard refuses anyway, and its declared commands are unknown.
  if (read.kind === 'broken') return null
  const { settings } = read
  const declared = knownCommands({
    history,
    settings,
    project: await readProjectFacts(repository, settings, { entries: false }),
  })
  const steps = new Set(agentFile.file.verification.steps.map(({ command }) => command.trim()))
  const matching = declared.filter(({ command }) => steps.has(command) && provesNothing(command) === null)
  if (matching.length === 0) return null

  const isBeneath = await place.beneathAgent()
  const doubt = isBeneath && !(await isAsCommitted(repository, agentFile)) ? notCommitted : null
  const path = isBeneath ? recordedEnvironment(home, repository)?.path : undefined
  const hiddenIn = hiddenList(join(ledgerPlace(home, repository, '').directory, 'trees'))
  const written = (): readonly string[] => Object.keys(history.edits.files)
  const tree = (): Promise<string> => treeFingerprint(repository, settings.state.dir, { hiddenIn, written })
  // Without a session the guard asks for no evidence.
  const isGuarded = newestSessions(home, repository).length > 0
  const before = doubt === null ? await unlessBroken(tree) : null
  const testsNow = async (): Promise<TestInventory | null> => {
    const { tests } = history.evidence
    if (tests === null) return null
    const earlier = { ...tests.machine?.[matching[0]?.command ?? ''] }
    const packages = { earlier, sinceMs: Date.parse(history.session.startedAt ?? '') }
    return inspectTests(repository, matching, {
      ...{ home: env.HOME ?? null, path: path ?? env.PATH ?? '', packages },
    })
  }
  return {
    env: path === undefined ? env : { ...env, PATH: path },
    record: async (response) => {
      if (before === null || response.status === 'INFRA_ERROR')
        return { commands: [], why: isGuarded ? doubt : null }
      const after = await unlessBroken(tree)
      const notes = notesOf(matching, response, {
        ...{ root: repository, before, after, isBeneath },
        tests: { before: history.evidence.tests, now: await testsNow() },
      })
      for (const note of notes) appendNote({ guardHome: home, root: repository, note, nowMs: Date.now() })
      if (!isGuarded) return { commands: [], why: null }
      const whys = notes.flatMap((note) => (note.kind === 'no_evidence' ? [notCounted(note)] : []))
      const commands = notes.flatMap((note) => (note.kind === 'evidence' ? [note.evidence.command] : []))
      return { commands, why: whys.length === 0 ? null : whys.join('\n') }
    },
  }
}

const notCommitted = `${agentFileName} differs from the committed version, and an agent started this run, so no evidence is recorded for the guard. Run it yourself, or commit the file.`

function notCounted({ command, why }: Note & { readonly kind: 'no_evidence' }): string {
  return `Not recorded as evidence for the guard: ${command}: ${why}`
}

interface Trees {
  readonly root: string
  readonly before: string
  readonly after: string | null
  readonly isBeneath: boolean
  /** The tests of the last snapshot and those of this run; null without a session. */
  readonly tests: { readonly before: TestInventory | null; readonly now: TestInventory | null }
}

function notesOf(
  declared: readonly DeclaredCommand[],
  { manifest }: VerifierResponse,
  { root, before, after, isBeneath, tests }: Trees,
): readonly Note[] {
  if (manifest === null || after === null) return []
  const { evidence, sandbox } = manifest.details as unknown as VerificationDetails
  return declared.flatMap(({ command, kind }): readonly Note[] => {
    const run = evidence.findLast((each) => each.command.trim() === command)
    if (run === undefined) return []
    const why =
      before !== after
        ? changedTree
        : isBeneath && !sandbox.sandboxed
          ? noSandbox
          : (unseenEnds[run.exit_code] ??
            (run.exit_code === 0
              ? whyHollow(command, tests.before, tests.now, sandbox.sandboxed ? { root } : null)
              : null))
    return [
      why === null
        ? {
            kind: 'evidence',
            evidence: { ...evidenceFrom(run), command, kind, treeHash: after },
            by: 'verifier',
            callId: null,
          }
        : { kind: 'no_evidence', command, why },
    ]
  })
}

const noSandbox = 'it ran without a sandbox below an agent'

const unseenEnds: Readonly<Record<number, string>> = {
  124: 'it ran into the time limit',
  126: 'the program could not be executed (exit 126)',
  127: 'the program was not found (exit 127)',
}

/** The verification itself reports a tree that cannot be fingerprinted; it is not a reason to skip it. */
async function unlessBroken(tree: () => Promise<string>): Promise<string | null> {
  try {
    return await tree()
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    return null
  }
}

async function isAsCommitted(repository: string, { path, text }: ReadAgentFile): Promise<boolean> {
  if (path !== `${repository}/${agentFileName}`) return false
  const git = await openRepository(repository)
  const committed = await git?.run(['cat-file', 'blob', `HEAD:${agentFileName}`])
  return committed?.exitCode === 0 && committed.stdout.toString('utf8') === text
}
