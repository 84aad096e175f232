import type { History } from '../contract.ts'
import { writtenMeanwhile } from '../evidence/judge-run.ts'
import { compiledInstead } from '../tests/compiled-python.ts'
import { runnerWrittenSince } from '../tests/package-states.ts'
import { type AskedSources, flagFor, type RunMoment } from '../tests/surroundings.ts'
import { askedSince, changedSources, writtenSince } from './tree-changes.ts'

export interface RunInSession {
  readonly root: string
  readonly home: string
  readonly trees: string
  readonly history: Pick<History, 'gate' | 'session'>
}

/** Why a green run may show nothing about the files: one was written beside it, or before it for changed sources to find. */
export async function doubtOfRun(run: RunInSession, tree: string, startedMs: number): Promise<string | null> {
  const written = writtenDuring(run, tree, startedMs)
  if (written !== null) return writtenMeanwhile(written)
  return compiledOf(run, tree) ?? flagFor(await askedSources(run, tree), momentOf(run, startedMs))
}

export function compiledOf({ root, trees, history }: RunInSession, tree: string): string | null {
  const { baseTree } = history.gate
  return baseTree === null ? null : compiledInstead(root, changedSources(trees, baseTree, tree))
}

/** A source, a test or a file of the runner that was written since then. */
export function writtenDuring({ root, home, trees, history }: RunInSession, tree: string, sinceMs: number) {
  const own = writtenSince({ root, trees, tree }, history.gate.baseTree, sinceMs)
  return own ?? runnerWrittenSince({ root, home }, sinceMs)
}

export async function askedSources(
  { root, trees, history }: RunInSession,
  tree: string,
): Promise<AskedSources> {
  const { baseTree } = history.gate
  return baseTree === null ? new Map() : askedSince({ root, trees, tree }, baseTree)
}

export function momentOf({ root, home, history }: RunInSession, beganMs: number): RunMoment {
  return { root, home, sinceMs: Date.parse(history.session.startedAt ?? ''), beganMs }
}
