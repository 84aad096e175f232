import type { EndState } from '../../core/decision.ts'
import type { LedgerEntry, Note } from '../../guard-engine/contract.ts'
import type { ModelCall } from '../../models/boundary/contract.ts'

/** How often the end of a turn was refused. */
export function refusalsIn(entries: readonly LedgerEntry[]): number {
  return entries.filter((entry) => entry.kind === 'decision' && entry.verdict === 'refuse').length
}

/** How pieces of work ended, in their order. */
export function endsIn(entries: readonly LedgerEntry[]): readonly EndState[] {
  return notesIn(entries).flatMap((note) => (note.kind === 'ended' ? [note.state] : []))
}

export function notesIn(entries: readonly LedgerEntry[]): readonly Note[] {
  return entries.flatMap((entry) =>
    entry.kind === 'decision' ? entry.notes : entry.kind === 'note' ? [entry.note] : [],
  )
}

/** Rules that denied a call, in the order of the calls. */
export function denialsIn(entries: readonly LedgerEntry[]): readonly string[] {
  return entries.flatMap((entry) =>
    entry.kind === 'decision' && entry.verdict === 'deny'
      ? entry.findings.filter(({ verdict }) => verdict === 'deny').map(({ rule }) => rule)
      : [],
  )
}

/** Everything a model is told in one call: system prompt, messages, results of tools. */
export function textOfCall({ system, messages }: ModelCall): string {
  const said = messages.flatMap(({ text, toolResults }) => [
    text,
    ...toolResults.map((result) => result.text),
  ])
  return [system, ...said].join('\n')
}

/** Was the model told this, in any call? */
export function toldModel(calls: readonly ModelCall[], text: string): boolean {
  return calls.some((call) => textOfCall(call).includes(text))
}
