import { evidenceStatus } from '../../core/evidence.ts'
import type { DeclaredCommand, EvidenceHistory } from '../contract.ts'
import { printable } from '../printable.ts'

const maxCommandLength = 160

/** Each command with what is known of its last run: facts of the ledger, not of the model's memory. */
export function evidenceLines(
  commands: readonly DeclaredCommand[],
  evidence: EvidenceHistory,
  tree: string | null,
): readonly string[] {
  return commands.map(
    ({ command }) => `${printable(command, maxCommandLength)}  (${standing(command, evidence, tree)})`,
  )
}

function standing(command: string, { byCommand, rejected }: EvidenceHistory, tree: string | null): string {
  const why = Object.hasOwn(rejected, command) ? rejected[command] : undefined
  const run = Object.hasOwn(byCommand, command) ? byCommand[command] : undefined
  if (run === undefined)
    return why === undefined ? 'not run yet' : `its last run did not count: ${printable(why, 80)}`
  if (tree === null)
    return run.exitCode === 0 ? 'passed when it last ran' : `failed with exit code ${run.exitCode}`
  switch (evidenceStatus([run], { kind: run.kind, treeHash: tree })) {
    case 'green':
      return 'passed on the tree as it is'
    case 'red':
      return `failed with exit code ${run.exitCode} on the tree as it is`
    case 'hollow':
      return 'ran no test'
    case 'stale':
      return run.exitCode === 0
        ? 'passed, but the tree has changed since'
        : `failed with exit code ${run.exitCode}, and the tree has changed since`
    case 'missing':
      return 'not run yet'
  }
}
