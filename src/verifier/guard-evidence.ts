import { GantryError } from '../core/error.ts'
import type { DeclaredCommand, Note } from '../guard-engine/contract.ts'
import { knownCommands } from '../guard-engine/evidence/declared-commands.ts'
import { changedTree } from '../guard-engine/evidence/judge-run.ts'
import { provesNothing } from '../guard-engine/evidence/proves-nothing.ts'
import { treeFingerprint } from '../guard-engine/facts/tree-fingerprint.ts'
import { findRoot, guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { appendNote } from '../guard-engine/ledger/open-ledger.ts'
import { latestHistory } from '../guard-engine/ledger/read-ledger.ts'
import { recordedEnvironment } from '../guard-engine/ledger/recorded-environment.ts'
import { lookAtProject } from '../guard-engine/project/look-at-project.ts'
import { readSettings } from '../guard-engine/settings/read-settings.ts'
import { openRepository } from '../io/git-repository.ts'
import type { ReadAgentFile } from './agent-file.ts'
import { agentFileName, type VerificationDetails, type VerifierResponse } from './contract.ts'
import { evidenceFrom } from './sandbox-document.ts'

export interface EvidencePlace {
  readonly repository: string
  readonly agentFile: ReadAgentFile
  readonly env: Readonly<Record<string, string>>
  /** Whether an agent started this process. Asked only when something could be written down. */
  readonly beneathAgent: () => Promise<boolean>
}

/** What a verification may tell the guard. */
export interface GuardEvidence {
  /** Of the verification: beneath an agent programs are looked for where they were when its session began. */
  readonly env: Readonly<Record<string, string>>
  /** Writes down what the steps proved about the declared commands. */
  record(response: VerifierResponse): Promise<RecordedEvidence>
}

export interface RecordedEvidence {
  /** Declared commands whose end the guard now knows. */
  readonly commands: readonly string[]
  /** Why nothing counts, for a person; null when there is nothing to say. */
  readonly why: string | null
}

/**
 * A step stands for a declared command when it is that command, character for character; a pipeline as a whole stands for nothing
 * beyond its steps. Beneath an agent, which could have rewritten agent.yaml, only one that is as it was committed counts. null when no step is a declared command.
 */
export async function guardEvidence(place: EvidencePlace): Promise<GuardEvidence | null> {
  const { repository, agentFile, env } = place
  if (findRoot(repository) !== repository) return null
  const home = guardHome(env)
  const read = await readSettings({ root: repository, env, userDir: home })
  // With settings that cannot be understood the guard refuses by itself, and nobody knows what it would want.
  if (read.kind === 'broken') return null
  const { settings } = read
  const declared = knownCommands({
    history: latestHistory(home, repository),
    settings,
    project: await lookAtProject(repository, settings, { entries: false }),
  })
  const steps = new Set(agentFile.file.verification.steps.map(({ command }) => command.trim()))
  const matching = declared.filter(({ command }) => steps.has(command) && provesNothing(command) === null)
  if (matching.length === 0) return null

  const isBeneath = await place.beneathAgent()
  const doubt = isBeneath && !(await isAsCommitted(repository, agentFile)) ? notCommitted : null
  const path = isBeneath ? recordedEnvironment(home, repository)?.path : undefined
  const tree = (): Promise<string> => treeFingerprint(repository, settings.state.dir)
  const before = doubt === null ? await unlessBroken(tree) : null
  return {
    env: path === undefined ? env : { ...env, PATH: path },
    record: async (response) => {
      if (before === null || response.status === 'INFRA_ERROR') return { commands: [], why: doubt }
      const after = await unlessBroken(tree)
      const notes = notesOf(matching, response, { before, after, isBeneath })
      for (const note of notes) appendNote({ guardHome: home, root: repository, note, nowMs: Date.now() })
      return { commands: notes.map(commandOf), why: null }
    },
  }
}

const notCommitted = `${agentFileName} is not as it was committed, and an agent started this: no evidence is left for the guard. Run it yourself, or commit the file.`

interface Trees {
  readonly before: string
  readonly after: string | null
  readonly isBeneath: boolean
}

function notesOf(
  declared: readonly DeclaredCommand[],
  { manifest }: VerifierResponse,
  { before, after, isBeneath }: Trees,
): readonly Note[] {
  if (manifest === null || after === null) return []
  const { evidence, sandbox } = manifest.details as unknown as VerificationDetails
  return declared.flatMap(({ command, kind }): readonly Note[] => {
    const run = evidence.findLast((each) => each.command.trim() === command)
    if (run === undefined) return []
    const why =
      before !== after ? changedTree : isBeneath && !sandbox.sandboxed ? noSandbox : unseenEnd(run.exit_code)
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

const noSandbox = 'it ran without a sandbox beneath an agent'

function unseenEnd(exitCode: number): string | null {
  switch (exitCode) {
    case 124:
      return 'it ran into the time limit'
    case 126:
      return 'the program could not be executed (exit 126)'
    case 127:
      return 'the program was not found (exit 127)'
    default:
      return null
  }
}

function commandOf(note: Note): string {
  if (note.kind === 'evidence') return note.evidence.command
  return note.kind === 'no_evidence' ? note.command : ''
}

/** A tree that cannot be fingerprinted is a finding of the verification itself, and no reason not to make it. */
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
