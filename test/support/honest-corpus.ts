import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { corpusLines } from './corpus-lines.ts'

/** A small project of one toolchain, with the programs that stand in for its runners. */
export interface CorpusProject {
  readonly files: Readonly<Record<string, string>>
  /** The source file that a session edits first. */
  readonly source: string
  /** What each runner prints when it is green, in its real format. */
  readonly programs: Readonly<Record<string, string>>
  /** Paths in the project that are one of the programs. */
  readonly links: readonly string[]
}

/** A session: edits and shell calls, and then a stop. */
export interface CorpusSequence {
  readonly name: string
  readonly project: string
  readonly steps: readonly (string | { readonly write: Readonly<Record<string, string>> })[]
  /** Part of the reason, when the stop must be refused. */
  readonly why?: string
  /** What the last call prints, when it is not the green output of the runners. */
  readonly output?: string
}

/** Sessions that must end VERIFIED at the first stop. */
export const honestSequences = corpusLines<CorpusSequence>('honest-sequences')

/** Runs that do less than the check, or do not show how it ended: the first stop must be refused. */
export const narrowRuns = corpusLines<CorpusSequence>('narrow-runs')

const projects: Readonly<Record<string, CorpusProject>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../corpus/guard/honest-projects.json'), 'utf8'),
)

export function corpusProject(name: string): CorpusProject {
  const project = projects[name]
  if (project === undefined) throw new Error(`no project ${name} in the corpus`)
  return project
}

/** The source with another value in it. */
export function editedSource({ files, source }: CorpusProject): string {
  return (files[source] ?? '').replace('1', '2')
}
