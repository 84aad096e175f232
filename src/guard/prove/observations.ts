import { relative } from 'node:path'
import { hookCodecs } from '../../agents/hook-codecs.ts'
import { hookInstallerOf } from '../../agents/hook-installers.ts'
import type { EndState } from '../../core/decision.ts'
import type { LedgerEntry, Note } from '../../guard-engine/contract.ts'
import { notesOf } from '../../guard-engine/history/gate.ts'
import type { ModelCall } from '../../models/boundary/contract.ts'
import type { GuardedProject, ProofStage } from './contract.ts'

export function refusalsIn(entries: readonly LedgerEntry[]): number {
  return entries.filter((entry) => entry.kind === 'decision' && entry.verdict === 'refuse').length
}

/** How the pieces of work ended, in order. */
export function endsIn(entries: readonly LedgerEntry[]): readonly EndState[] {
  return notesIn(entries).flatMap((note) => (note.kind === 'ended' ? [note.state] : []))
}

export function notesIn(entries: readonly LedgerEntry[]): readonly Note[] {
  return entries.flatMap(notesOf)
}

export function denialsIn(entries: readonly LedgerEntry[]): readonly string[] {
  return entries.flatMap((entry) =>
    entry.kind === 'decision' && entry.verdict === 'deny'
      ? entry.findings.filter(({ verdict }) => verdict === 'deny').map(({ rule }) => rule)
      : [],
  )
}

/** All text the model gets in one call: system prompt, messages and tool results. */
export function textOfCall({ system, messages }: ModelCall): string {
  const texts = messages.flatMap(({ text, toolResults }) => [
    text,
    ...toolResults.map((result) => result.text),
  ])
  return [system, ...texts].join('\n')
}

export function modelSaw(calls: readonly ModelCall[], text: string): boolean {
  return calls.some((call) => textOfCall(call).includes(text))
}

export function hookFileOf(
  { agent }: Pick<ProofStage, 'agent'>,
  { root, home, env }: Pick<GuardedProject, 'root' | 'home' | 'env'>,
): string {
  const [path = ''] = hookInstallerOf(agent, hookCodecs[agent]).files('project', { root, home, env })
  return relative(root, path)
}
