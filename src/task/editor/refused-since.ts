import { asObject, asString } from '../../core/json-fields.ts'
import { refusalMark } from '../../core/refusal-mark.ts'
import { shorten } from '../../core/shorten.ts'
import { newestSessions, readLedger } from '../../guard-engine/ledger/read-ledger.ts'

/** How a warning about a refused call of the Editor begins. */
export const refusedMark = 'refused: '

interface RefusedCall {
  readonly tool: string
  readonly input: unknown
}

/** One line about a call of the Editor that was refused. */
export function refusedLine({ tool, input }: RefusedCall, reason: string): string {
  const fields = asObject(input)
  const subject = ['command', 'path', 'file_path']
    .map((key) => asString(fields?.[key]))
    .find((value) => value !== undefined)
  const why = (reason.startsWith(refusalMark) ? reason.slice(refusalMark.length) : reason).trim()
  const called = subject === undefined ? tool : `${tool} ${subject}`
  return `${refusedMark}${shorten(oneLine(called), 160)}: ${shorten(oneLine(why), 300)}`
}

/** Calls in this tree that the guard refused since then, from its ledger: of an agent that is a process of its own. */
export function refusedSince(guardHome: string, root: string, since: string): readonly string[] {
  return newestSessions(guardHome, root).flatMap((path) => {
    const { entries } = readLedger(guardHome, path)
    return entries.flatMap((entry) => {
      if (entry.kind !== 'decision' || entry.verdict !== 'deny' || entry.at < since) return []
      const event = entries.find((each) => each.kind === 'event' && each.id === entry.of)
      const call = event?.kind === 'event' ? event.event.call : undefined
      return call === undefined ? [] : [refusedLine(call, entry.reason ?? '')]
    })
  })
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
